"""Data sets on disk: one file for each layout, and what they share."""
