"""Compares the messages of a consumer with the source."""
