"""The table that `roma status` shows."""

import io

from rich.console import Console

from relay.state import InstanceStatus
from relay.status_table import status_table


def shown(*statuses: InstanceStatus) -> str:
    console = Console(file=io.StringIO(), width=200)
    console.print(status_table(statuses))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_an_instance_shows_where_it_is_how_far_behind_and_what_prints_its_rows() -> None:
    running = InstanceStatus(
        "shop", "RUNNING", relay="relay-1", position_file="binlog.000007", position_offset=4, lag_seconds=0.25, row_printer="compiled"
    )
    text = shown(running)
    for part in ("shop", "RUNNING", "binlog.000007:4", "0.2", "compiled", "relay-1"):
        assert part in text


def test_a_stopped_one_shows_its_reason_and_the_way_out() -> None:
    text = shown(InstanceStatus("crm", "STOPPED", "BINLOG_PURGED", "It is gone.", "Start again."))
    for part in ("STOPPED", "BINLOG_PURGED", "It is gone.", "Start again."):
        assert part in text
