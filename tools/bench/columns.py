"""Measures the CPU time of printing a row by its number of columns: `make bench-columns`.

No server runs. Row events in memory become messages, by the compiled printer and by the readable
packages.
"""

import argparse
import gc
import struct
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import process_time
from typing import Final

from rich.console import Console

from relay.compiled import COMPILED
from relay.decode import RowDecoder
from relay.encode import MessageFrame
from relay.model.change import RawRows, RowsEvent
from relay.model.positions.position import OrderPair
from relay.model.table import TableId
from relay.pipeline.messages.printing.event_printer import EventPrinter
from relay.pipeline.messages.published_changes import EventContext
from relay.pipeline.messages.single_row import row_messages
from relay.pipeline.messages.table_plan import TablePlan
from relay.settings import MessageSettings
from tests.support.rows.table_plans import plan_printer, table_definition, table_plan
from tests.unit.decode.event_bytes import WrittenColumn, WrittenTable, image, raw_rows, rows_body
from tests.unit.pipeline.messages.json_documents import document, json_scalar
from tools.bench.measuring.machine import setting
from tools.bench.measuring.report import Report

_WIDTHS: Final = (1, 5, 10, 20, 40, 60, 120, 240)
_LONG_WIDTH: Final = 60
_EVENT_ROWS: Final = 20
_SECONDS: Final = 1.0
_LOGICAL: Final = TableId("bench", "wide")
_FRAME: Final = MessageFrame(
    event_time_ms=1_700_000_000_000, gtid="", batch=1, publish_time_ms=1_700_000_000_000
)
_BEFORE: Final = OrderPair(1_700_000_000_000, 1)
_UTF8MB4: Final = 45


def _text(value: str) -> bytes:
    raw = value.encode()
    return len(raw).to_bytes(2, "little") + raw


_KINDS: Final = (
    (WrittenColumn(3, unsigned=False), struct.pack("<i", 123_456_789)),
    (
        WrittenColumn(15, (400).to_bytes(2, "little"), collation=_UTF8MB4),
        _text("a label of some thirty letters"),
    ),
    (WrittenColumn(246, bytes([12, 2]), unsigned=False), bytes.fromhex("80000f42401f")),
    (
        WrittenColumn(18, b"\x03"),
        (1 << 39 | (2026 * 13 + 5) << 22 | 7 << 17 | 10 << 12 | 20 << 6 | 30).to_bytes(5, "big")
        + b"\x04\xd2",
    ),
    (WrittenColumn(5, b"\x08", unsigned=False), struct.pack("<d", 1234.5678)),
    (WrittenColumn(8, unsigned=True), struct.pack("<Q", 9_876_543_210)),
)


_DOCUMENT: Final = document(
    {
        "id": json_scalar(4711),
        "tags": [json_scalar("a"), json_scalar("b"), json_scalar("c3")],
        "size": {"w": json_scalar(33), "h": json_scalar(4.5)},
        "open": json_scalar(True),
        "note": json_scalar(None),
    }
)
_STORY: Final = "4711 the quick brown fox jumps over the lazy dog 敏捷的狐狸 " * 32
_LONG_KINDS: Final = (
    (WrittenColumn(245, b"\x04"), len(_DOCUMENT).to_bytes(4, "little") + _DOCUMENT),
    (WrittenColumn(252, b"\x02", collation=_UTF8MB4), _text(_STORY)),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of rows with one number of columns.

    long               whether the rows end with a JSON document and a text of 2 KB
    row_bytes          size of a row image
    compiled_us        CPU microseconds per row of the compiled printer; 0 without compiled modules
    compiled_mb_per_s  megabytes of row images per CPU second of the compiled printer; 0 likewise
    readable_us        CPU microseconds per row of the readable packages
    readable_mb_per_s  megabytes of row images per CPU second of the readable packages
    """

    columns: int
    long: bool
    row_bytes: int
    compiled_us: float
    compiled_mb_per_s: float
    readable_us: float
    readable_mb_per_s: float


def main() -> None:
    """Measure the CPU time of a row by its number of columns, and print the report."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench.columns", description=__doc__)
    parser.add_argument(
        "--into",
        type=Path,
        metavar="FOLDER",
        help="write the table into this folder, as Markdown and JSON",
    )
    arguments = parser.parse_args()
    here = setting(sys.argv[1:], "tools.bench.columns")
    gc.disable()
    costs = [*map(_cost, _WIDTHS), _cost(_LONG_WIDTH, long=True)]
    report = _report(costs)
    Console().print(report.table())
    if arguments.into:
        report.write(
            arguments.into,
            "columns",
            replace(here, command=here.command.replace("tools.bench", "tools.bench.columns")),
        )


def _cost(width: int, *, long: bool = False) -> Cost:
    kinds = [_KINDS[number % len(_KINDS)] for number in range(width)]
    if long:
        kinds[-len(_LONG_KINDS) :] = _LONG_KINDS
    columns = [
        WrittenColumn(kind.type, kind.metadata, f"column_{i}", i > 0, kind.unsigned, kind.collation)
        for i, (kind, _) in enumerate(kinds)
    ]
    table = WrittenTable(columns, primary_key=(0,))
    row = image([value for _, value in kinds])
    raw = raw_rows(table.map_body(), rows_body(width, *[row] * _EVENT_ROWS))
    decoder = RowDecoder()
    plan = table_plan(table_definition(decoder.open(raw).table), _LOGICAL, "wide", 8)
    readable = _seconds(lambda: _read(decoder.open(raw), plan)) / _EVENT_ROWS
    compiled = _printing(raw, plan) if COMPILED else 0.0
    figures = [
        figure
        for each in (compiled, readable)
        for figure in (each * 1e6, len(row) / each / 1e6 if each else 0.0)
    ]
    return Cost(width, long, len(row), *figures)


def _printing(raw: RawRows, plan: TablePlan) -> float:
    """Return the CPU seconds of a row."""
    printer = plan_printer(plan)
    decoder = RowDecoder()
    return _seconds(lambda: _print(decoder.open(raw), printer, plan)) / _EVENT_ROWS


def _print(event: RowsEvent, printer: EventPrinter, plan: TablePlan) -> None:
    rows = printer.messages([event], _FRAME, _BEFORE, 0, plan.tags).rows
    assert rows == _EVENT_ROWS


def _read(event: RowsEvent, plan: TablePlan) -> None:
    messages = [
        *row_messages(event, plan, MessageSettings(), EventContext(_FRAME, None), _BEFORE, 0)
    ]
    assert len(messages) == _EVENT_ROWS


def _seconds(work: Callable[[], None]) -> float:
    """Return the CPU seconds of one call, as a mean over many calls."""
    work()
    calls, began = 0, process_time()
    while process_time() - began < _SECONDS:
        work()
        calls += 1
    return (process_time() - began) / calls


def _figures(cost: Cost) -> tuple[float, ...]:
    return cost.compiled_us, cost.compiled_mb_per_s, cost.readable_us, cost.readable_mb_per_s


_NOTES: Final = (
    (
        f"CPU of one core, in memory, no server: events of {_EVENT_ROWS} inserted rows "
        f"become whole messages in the exact style."
    ),
    (
        "Columns take turns: INT, VARCHAR of 30 letters, DECIMAL(12,2), DATETIME(3), DOUBLE, "
        "BIGINT UNSIGNED."
    ),
    (
        "long: the last two columns are a JSON document of 110 bytes, as MySQL stores it, "
        "and a text of 2 KB."
    ),
    "MB/s counts the rows' bytes in the binlog.",
)


def _report(costs: list[Cost]) -> Report:
    ways = [f"{way}, {unit}" for way in ("compiled", "readable") for unit in ("µs a row", "MB/s")]
    head = ("columns", "bytes a row", *ways)
    rows = [
        (
            f"{each.columns}{', long' * each.long}",
            str(each.row_bytes),
            *(f"{figure:.1f}" for figure in _figures(each)),
        )
        for each in costs
    ]
    return Report(
        "What a row costs by its number of columns",
        head,
        rows,
        _NOTES,
        [asdict(each) for each in costs],
    )


if __name__ == "__main__":
    main()
