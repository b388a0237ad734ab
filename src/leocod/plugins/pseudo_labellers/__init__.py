"""Who says what is in the frames that nobody labelled, one file each."""
