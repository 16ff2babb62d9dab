"""The services that endpoints and pages call."""
