"""Prints whole events and whole transactions with compiled code, and reports bugs of that code."""
