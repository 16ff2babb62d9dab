"""The Python client beside a plain consumer, and beside Canal's own client."""
