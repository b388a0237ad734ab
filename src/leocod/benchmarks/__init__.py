"""What a learner is tried on. Every file but base.py is one choice of `benchmark:`."""
