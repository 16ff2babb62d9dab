"""Finds the effects of a mapping edit on the present instances."""
