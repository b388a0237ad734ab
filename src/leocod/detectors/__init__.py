"""Detectors. Every file but base.py is one choice of `detector:`."""
