"""Finds where to start, resume or switch to: by coordinates, time, GTID set or digest.

May import `protocol` and `events` of `relay.source`.
"""
