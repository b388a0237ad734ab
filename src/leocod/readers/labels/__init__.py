"""Labels that other tools have written, one file for each format."""
