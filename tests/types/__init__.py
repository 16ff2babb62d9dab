"""Column types on real servers: what they store, what the relay prints of it."""
