"""The paper's tables and figures: its figures as data, ours run beside them."""
