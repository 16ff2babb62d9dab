"""Mapping sets: saved by operators, and compared with those that instances use."""
