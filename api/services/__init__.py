"""The services behind the endpoints."""
