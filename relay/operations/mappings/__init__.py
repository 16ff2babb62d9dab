"""Mapping sets: as operators save them, and as instances use them."""
