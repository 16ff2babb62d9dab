"""Bodies of requests and answers about mappings, their sets and routes."""
