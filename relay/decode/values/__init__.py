"""Decodes single column values: numbers, times, JSON, compressed columns.

May import only `relay.model`. Raises Malformed if bytes contradict the format.
"""
