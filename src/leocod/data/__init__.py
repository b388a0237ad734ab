"""Tools for data sets: check, convert, describe."""
