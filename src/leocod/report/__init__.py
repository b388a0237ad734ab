"""What a run directory tells, as one page. Reads files only: no model, no torch."""
