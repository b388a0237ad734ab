"""Figures that sum up a run, one file each. A new file is a new metric: results, console and report follow."""
