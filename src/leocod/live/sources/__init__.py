"""Where live frames come from: a video file, a folder, a camera, an address, the built-in world; one file each."""
