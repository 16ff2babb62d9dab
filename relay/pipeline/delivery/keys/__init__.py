"""The text forms in which keys are hashed to partitions of a topic, compared between tables and
instances.
"""
