"""Parses the body of each binlog event, and groups events into source transactions, including rows
that a savepoint rollback undid.

It does no I/O, and may import only `relay.model`, `relay.charsets` and the errors.
"""
