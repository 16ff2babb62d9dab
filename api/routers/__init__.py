"""Addresses, one file per resource."""
