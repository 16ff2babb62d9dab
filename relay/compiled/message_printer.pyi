from collections.abc import Sequence

from relay.compiled.column_plan import ColumnPlan
from relay.model.row_path import SlowReason

class MessagePrinter:
    def __init__(
        self,
        columns: Sequence[ColumnPlan],
        key: tuple[int, ...],
        key_head: bytes,
        placed: tuple[int, ...],
        seed: int,
        partitions: int,
        *more: object,
    ) -> None: ...
    def print_rows(
        self,
        body: bytes,
        start: int,
        update: bool,
        first: bytes,
        second: bytes,
        time: int,
        position: int,
        skip: int,
        largest: int | None,
        /,
    ) -> tuple[int, int, int, bytes] | SlowReason: ...
    def print_copied(
        self, body: bytes, first: bytes, second: bytes, time: int, position: int, /
    ) -> tuple[int, int, int, bytes] | SlowReason: ...
    def count_rows(self, body: bytes, start: int, update: bool, /) -> int | None: ...
