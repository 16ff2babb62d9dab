"""Mapping sets as operators save them, and as instances have them in force."""
