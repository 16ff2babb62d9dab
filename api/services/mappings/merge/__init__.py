"""Applying an edit to a set that another editor has saved meanwhile."""
