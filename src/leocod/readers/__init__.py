"""Readers of data sets: one file for each layout, and what they share."""
