"""Who stays when a shelf is full. A file is one rule, and its name the option's value."""
