"""Reads rows by SELECT: the queries, and the decoded values of their results."""

from relay.schema.copied.copied_table import CopiedTable, copied_table, described_map

__all__ = ["CopiedTable", "copied_table", "described_map"]
