"""The mapping, its sets and routes as operators see them."""
