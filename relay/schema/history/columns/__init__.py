"""Definitions of columns as statements write them."""
