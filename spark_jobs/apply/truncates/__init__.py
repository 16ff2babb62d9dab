"""Applies TRUNCATEs to the copies: a change of a real table that is older than the table's TRUNCATE
counts as a delete (ADR 50).
"""
