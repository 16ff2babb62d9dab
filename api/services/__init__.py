"""The services that the endpoints call."""
