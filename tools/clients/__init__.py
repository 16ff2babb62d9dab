"""Random faults around the Python client: what is lost, repeated or out of order."""
