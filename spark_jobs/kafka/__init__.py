"""Reads topics: offsets, checkpoints, and the positions up to which the relays have published.

May import `sinks`, `origin` and the packages below them, not `apply`.
"""
