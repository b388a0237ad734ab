"""Reading and writing single files safely: images, videos, JSON and YAML, checkpoints, the run directory."""
