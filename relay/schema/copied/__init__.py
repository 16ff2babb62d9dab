"""Tables whose rows are read by SELECT: the queries, and the decoded values of the answers."""

from relay.schema.copied.copied_table import CopiedTable, copied_table, described_map

__all__ = ["CopiedTable", "copied_table", "described_map"]
