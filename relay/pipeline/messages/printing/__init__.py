"""Printing with compiled code: whole events, whole transactions, and its failures."""
