"""Readers of events: what shows, stores or draws a run. Each is a context manager that is called with every event."""
