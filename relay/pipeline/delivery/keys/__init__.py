"""Compares the text forms in which tables and instances hash their keys to the partitions of a
topic.
"""
