"""Continual-learning methods. Every file but base.py and base_replay.py is one choice of `strategy:`."""
