"""Outputs of a run: every file but base.py is one choice of `sinks:`."""
