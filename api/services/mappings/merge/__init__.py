"""Applies an edit to a mapping set that was saved after the edit began."""
