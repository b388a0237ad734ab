"""A running stream, a person who labels a little of it, and a detector that learns from both at once."""
