"""Decoders of single column values: numbers, times, JSON, compressed columns.

May import `relay.model` only. Raises Malformed where bytes do not follow the format.
"""
