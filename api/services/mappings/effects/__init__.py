"""The effect of a mapping edit on the present instances."""
