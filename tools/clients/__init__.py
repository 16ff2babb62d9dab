"""Random faults around the Python client: counts lost, repeated and reordered changes."""
