"""Fixtures that give tests real servers."""
