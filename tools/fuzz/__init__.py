"""Damaged, truncated and hostile binlog events by the million: a named error of the relay, or rows.

Nothing else.
"""
