"""A run's detector as a file for other programs: written, loaded again, and held to the detector's own detections."""
