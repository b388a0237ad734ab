"""Single files, read and written safely: documents (JSON, YAML, CSV), images, videos, checkpoints, run directories."""
