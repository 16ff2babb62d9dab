"""Applies one batch: reduces it per key, writes each table, stores unusable messages in the
quarantine, and maintains the copies.

May import `sinks`, `origin`, `transforms` and the packages below them, not `kafka`.
"""
