"""Parses the body of each binlog event type and groups events into source transactions.

Does no I/O. May import `relay.model`, `relay.charsets` and the errors.
"""
