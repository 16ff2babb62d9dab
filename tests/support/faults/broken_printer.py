"""`python -m tests.support.faults.broken_printer`: the `roma` command, with a printer of rows that
raises.
"""

from functools import partial
from typing import Any
from unittest.mock import patch

from relay.__main__ import main
from relay.pipeline.messages import table_plans
from relay.pipeline.messages.printing.event_printer import make_event_printer


class _Broken:
    def __init__(self, *_: object) -> None: ...

    def print_rows(self, *_: object) -> Any:
        raise IndexError("a bug of the printer")

    def print_copied(self, *_: object) -> Any:
        return self.print_rows()

    def count_rows(self, *_: object) -> int | None:
        return None


if __name__ == "__main__":
    with patch.object(
        table_plans, "make_event_printer", partial(make_event_printer, maker=_Broken)
    ):
        main()
