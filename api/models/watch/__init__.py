"""What the watch saw, as operators see it."""
