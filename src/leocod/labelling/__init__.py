"""Who labels: every file but base.py is one choice of `labels:`."""
