"""Learning from a live camera: sources of frames, and what runs them."""
