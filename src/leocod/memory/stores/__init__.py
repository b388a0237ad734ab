"""Which shelves a memory has, and how many places each has. A file is one way, and its name the option's value."""
