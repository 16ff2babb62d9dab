"""Saves mapping sets for operators, and compares them with the sets that instances use."""
