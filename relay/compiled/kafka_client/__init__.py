"""Hands blocks of printed messages to the Kafka client, by the client's C interface."""
