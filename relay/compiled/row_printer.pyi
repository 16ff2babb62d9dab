from collections.abc import Callable, Sequence
from typing import TypeAlias

Extra: TypeAlias = tuple[bytes | None, ...] | Callable[[bytes], str] | None
ColumnPlan: TypeAlias = tuple[int, int, bool, bool, bool, int, int, bytes, Extra]

class RowPrinter:
    def __init__(
        self,
        columns: Sequence[ColumnPlan],
        key: tuple[int, ...],
        key_head: bytes,
        placed: tuple[int, ...],
        seed: int,
        partitions: int,
    ) -> None: ...
    def print_rows(
        self,
        body: bytes,
        start: int,
        update: bool,
        before_old: bytes,
        after_old: bytes,
        time: int,
        position: int,
        skip: int,
        largest: int | None,
    ) -> tuple[int, int, int, bytes] | None: ...
    def count_rows(self, body: bytes, start: int, update: bool) -> int | None: ...
