from collections.abc import Callable, Sequence
from typing import TypeAlias

from relay.model.message import HeaderList, PrintedMessage

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
        order_name: str,
        orders_name: str,
    ) -> None: ...
    def print_rows(
        self,
        body: bytes,
        start: int,
        update: bool,
        before_old: bytes,
        after_old: bytes,
        time: bytes,
        position: int,
        skip: int,
        tail: HeaderList,
        largest: int | None,
    ) -> tuple[int, list[PrintedMessage]] | None: ...
    def count_rows(self, body: bytes, start: int, update: bool) -> int | None: ...
