"""Prints the state of every instance for `roma status`: a table, and below it the problems."""

from collections.abc import Sequence
from time import time
from typing import Final

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from relay.operations import ListedInstance, progress_sentence
from relay.pipeline.supervision.unlogged_cascades import REMEDY
from relay.state import InstanceStatus

_WIDE: Final = 120
"""Terminals of at least this many columns show all columns of the table.

On a narrower terminal, the other figures are lines below the table.
"""


class StatusView:
    """The state of the instances at one moment, in as many columns as the terminal has room for.

    Positions are never shortened.
    """

    def __init__(self, found: Sequence[ListedInstance]) -> None:
        self._found = found

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wide = options.max_width >= _WIDE
        yield _table(self._found, wide=wide)
        for each in self._found:
            yield from _notes(each, wide=wide)
        if not self._found:
            yield Text("No instance is configured, and none was ever reported.")


def _table(found: Sequence[ListedInstance], *, wide: bool) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("instance", overflow="fold")
    table.add_column("state", no_wrap=True)
    table.add_column("position", no_wrap=True)
    table.add_column("lag s", justify="right", no_wrap=True)
    table.add_column("rows", justify="right", no_wrap=True)
    for name in ("mapping set", "row printer", "relay") if wide else ():
        table.add_column(name, overflow="fold")
    for each in found:
        status = each.status
        more = (str(status.mapping_set), status.row_printer, _relay(each)) if wide else ()
        table.add_row(
            status.name,
            status.state,
            _position(status),
            _lag(status),
            str(status.published_rows),
            *more,
        )
    return table


def _notes(each: ListedInstance, *, wide: bool) -> list[Text]:
    """Return the lines about an instance below the table."""
    status = each.status
    lines = []
    if not wide:
        printer = f", rows printed by {status.row_printer}" if status.row_printer else ""
        lines.append(f"mapping set {status.mapping_set}{printer}, {_relay(each) or 'no relay'}")
    if status.relay and not each.relay_alive:
        lines.append(
            f"Its relay has ended; this is its report from "
            f"{max(0, int(time() - status.updated_ms / 1000))} s ago."
        )
    lines += [status.held_back] if status.held_back else []
    lines += [status.mapping_problem] if status.mapping_problem else []
    lines += [f"{status.unlogged_changes} {REMEDY}"] if status.unlogged_changes else []
    lines += [status.keys_differ] if status.keys_differ else []
    copying = progress_sentence(status.snapshot)
    lines += [f"copies {copying}"] if copying else []
    lines += [f"spool: {status.spool_problem}"] if status.spool_problem else []
    if status.code or status.reason:
        lines.append(": ".join(filter(None, (status.code, status.reason))))
    lines += [status.remedy] if status.remedy else []
    lines += [f"{name} at {position}" for name, position in status.sources.items()]
    return [
        Text(f"{status.name}: {line}" if number == 0 else f"  {line}")
        for number, line in enumerate(lines)
    ]


def _position(status: InstanceStatus) -> str:
    return f"{status.position_file}:{status.position_offset}" if status.position_file else ""


def _lag(status: InstanceStatus) -> str:
    return "" if status.lag_seconds is None else f"{status.lag_seconds:.1f}"


def _relay(each: ListedInstance) -> str:
    return (
        f"{each.status.relay} (gone)"
        if each.status.relay and not each.relay_alive
        else each.status.relay
    )
