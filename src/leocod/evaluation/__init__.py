"""How good the detections are, now (AP50) and over time (CAP, FAP, forgetfulness)."""
