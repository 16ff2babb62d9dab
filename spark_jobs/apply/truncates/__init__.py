"""TRUNCATE followed into the copies: a change of a real table that is older than its TRUNCATE
counts as a delete (ADR 50).
"""
