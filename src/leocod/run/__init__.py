"""One run, from config to report: find and build the parts, drive them, save and resume."""
