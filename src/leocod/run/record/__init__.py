"""What every run writes into its directory: results, labels, detections, samples, checkpoints."""
