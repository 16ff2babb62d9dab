from collections.abc import Sequence

from relay.compiled.column_plan import ColumnPlan
from relay.model.row_path import SlowReason

class EnvelopePrinter:
    def __init__(
        self,
        columns: Sequence[ColumnPlan],
        key: tuple[int, ...],
        key_head: bytes,
        placed: tuple[int, ...],
        seed: int,
        partitions: int,
        between: bytes,
        last: bytes,
        binary: bool,
    ) -> None: ...
    def print_rows(
        self,
        body: bytes,
        start: int,
        update: bool,
        head: bytes,
        middle: bytes,
        time: int,
        position: int,
        skip: int,
        largest: int | None,
        /,
    ) -> tuple[int, int, int, bytes] | SlowReason: ...
    def print_copied(
        self, body: bytes, head: bytes, middle: bytes, time: int, position: int, /
    ) -> tuple[int, int, int, bytes] | SlowReason: ...
