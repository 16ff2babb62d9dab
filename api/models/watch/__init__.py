"""The observations of the watch, as operators see them."""
