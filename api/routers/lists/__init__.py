"""Lists over all instances."""
