"""Endpoints that list dead letters and unmapped tables of all instances."""
