"""Parses the body of each binlog event, and groups events into source transactions, including rows
that a savepoint rollback undid.

Does no I/O. It may import `relay.model`, `relay.charsets` and the errors.
"""
