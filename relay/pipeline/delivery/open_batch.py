"""Counts the contents of the open batch (Kafka transaction)."""

from collections import Counter
from dataclasses import dataclass, field

from relay.telemetry import TableCount, TableOperation


@dataclass(slots=True)
class OpenBatch:
    """The counts of the open batch. A new object replaces it at each commit.

    rows                source rows, without copied ones
    copied_rows         rows of copied tables
    event_bytes         size in the binlog
    value_bytes         size of the message values
    undecodable_values  values that were published with U+FFFD
    alone               whether the batch holds a statement, and is committed at once
    claims              messages whose value is in the claim-check store
    oldest_ms           when its first transaction was committed on the source, in Unix milliseconds
    dead_letters        dead letters by error code
    tables              counts by logical table and operation; set when the commit is requested
    """

    rows: int = 0
    copied_rows: int = 0
    event_bytes: int = 0
    value_bytes: int = 0
    undecodable_values: int = 0
    alone: bool = False
    claims: int = 0
    oldest_ms: int | None = None
    dead_letters: Counter[str] = field(default_factory=Counter)
    tables: dict[TableOperation, TableCount] = field(default_factory=dict)
