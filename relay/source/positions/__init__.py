"""Finds where to start, resume or switch to: by coordinates, time, GTID set or digest.

Of `relay.source` it may import `protocol` and `events`.
"""
