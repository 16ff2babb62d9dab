"""Reads rows of tables by SELECT instead of the binlog, for copies of tables: the queries, and the
decoders of their results.
"""

from relay.schema.copied.copied_table import CopiedTable, copied_table, described_map

__all__ = ["CopiedTable", "copied_table", "described_map"]
