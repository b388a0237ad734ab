"""What a learner is tested on. Every file but base.py is one choice of `benchmark:`."""
