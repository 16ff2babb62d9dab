"""Applies one batch: reduces it per key, writes each table, quarantines, and tends the copies.

May import `sinks`, `origin`, `transforms` and the packages below them, not `kafka`.
"""
