"""Reads the source into a file on disk while Kafka is slow, and publishes from there.

May import `ingest` and `delivery`, not `messages` or `publishing`.
"""
