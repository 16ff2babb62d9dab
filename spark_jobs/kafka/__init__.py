"""Reads topics: offsets, checkpoints, and how far the relays have published.

May import `sinks`, `origin` and the packages below them, not `apply`.
"""
