"""libsaccade from Python: where it lies, its C interface, its errors, and where arrays lie."""
