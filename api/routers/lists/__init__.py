"""Endpoints that list things of all instances."""
