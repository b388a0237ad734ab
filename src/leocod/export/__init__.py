"""A run's detector as a file for other programs: written, loaded again, and compared with the detector."""
