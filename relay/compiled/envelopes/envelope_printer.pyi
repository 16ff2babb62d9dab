from collections.abc import Sequence

from relay.compiled.column_plan import ColumnPlan
from relay.compiled.message_printer import MessagePrinter

class EnvelopePrinter(MessagePrinter):
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
