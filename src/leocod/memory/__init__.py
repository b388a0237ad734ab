"""The replay memory: which labelled frames are kept, and how they are stored."""
