"""Decoders of single column values: numbers, times, JSON, compressed columns.

May import `relay.model` only. Raises Malformed if bytes do not follow the format.
"""
