"""Continual-learning methods. Every file but base.py is one choice of `strategy:`."""
