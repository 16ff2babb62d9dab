"""Reads the source into a file on disk (spool) while Kafka is slow, and publishes from there.

It may import `ingest` and `delivery`, but not `messages` or `publishing`.
"""
