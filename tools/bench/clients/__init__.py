"""Compares the Python client with a plain consumer and with Canal's own client."""
