"""Where steps come from: a recorded benchmark, or its labelled frames shuffled for offline training."""
