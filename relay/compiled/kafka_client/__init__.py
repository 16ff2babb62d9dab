"""Passes blocks of printed messages to the Kafka client through the client's C interface."""
