"""What the open batch holds, beside its messages."""

from dataclasses import dataclass


@dataclass(slots=True)
class OpenBatch:
    """Grows with every event and is left behind with the commit. `event_bytes` are bytes as logged, `value_bytes` of message values.

    `alone`: a statement is in it, which travels alone.
    """

    rows: int = 0
    event_bytes: int = 0
    value_bytes: int = 0
    undecodable_values: int = 0
    alone: bool = False
