"""What the open batch holds, beside its messages."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class OpenBatch:
    """Grows with every event and is left behind with the commit.

    `event_bytes` are bytes as logged, `value_bytes` of message values.

    `alone`: a statement is in it, which travels alone. `dead_letters` are by code. `oldest_ms` is
    when its first transaction was committed on the source, Unix milliseconds.
    """

    rows: int = 0
    event_bytes: int = 0
    value_bytes: int = 0
    undecodable_values: int = 0
    alone: bool = False
    claims: int = 0
    oldest_ms: int | None = None
    dead_letters: Counter[str] = field(default_factory=Counter)
