"""Parses definitions of columns in statements."""
