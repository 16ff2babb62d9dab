"""The counts of the open batch, besides its messages."""

from collections import Counter
from dataclasses import dataclass, field

from relay.telemetry import TableCount, TableOperation


@dataclass(slots=True)
class OpenBatch:
    """Grows with every event and is replaced at the commit.

    `event_bytes` are bytes as logged, `value_bytes` of message values.

    `copied_rows` are those of copied tables, which are not among `rows`.

    `alone`: it contains a statement, which has a separate batch. `dead_letters` are by code.
    `oldest_ms` is when its first transaction was committed on the source, Unix milliseconds.
    `tables` holds counts by logical table and operation; the checkpoint sets it when it asks for
    the commit.
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
