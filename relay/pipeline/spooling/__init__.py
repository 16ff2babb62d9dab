"""Reads the source into files on disk (the spool) while Kafka is slow, and publishes from them.

It may import `ingest` and `delivery`, but not `messages` or `publishing`.
"""
