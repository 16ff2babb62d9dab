"""What `roma status` shows for people, on a wide terminal and on one of 80 columns."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from relay.operations import ListedInstance
from relay.state import InstanceStatus
from relay.status_table import StatusView

RUNNING = InstanceStatus(
    "shop",
    "RUNNING",
    relay="relay-1.example.org-4711",
    mapping_set=7,
    position_file="mysql-bin.000007",
    position_offset=1_073_741_824,
    lag_seconds=0.25,
    published_rows=1_234_567_890,
    row_printer="compiled",
)
STOPPED = InstanceStatus(
    "crm", "STOPPED", "BINLOG_PURGED", "It is gone.", "Start again.", relay="relay-2"
)
WIDTHS = pytest.mark.parametrize("width", [80, 200])


def shown(*statuses: InstanceStatus, width: int = 200, alive: bool = True) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(StatusView([ListedInstance(each, alive) for each in statuses]))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@WIDTHS
def test_an_instance_shows_where_it_is_how_far_behind_and_what_prints_its_rows(width: int) -> None:
    text = shown(RUNNING, width=width)
    for part in (
        "shop",
        "RUNNING",
        "mysql-bin.000007:1073741824",
        "0.2",
        "1234567890",
        "7",
        "compiled",
        "relay-1.example.org-4711",
    ):
        assert part in text
    assert max(map(len, text.splitlines())) <= width


@WIDTHS
def test_a_stopped_one_shows_its_reason_and_the_remedy(width: int) -> None:
    text = shown(RUNNING, STOPPED, width=width)
    for part in ("STOPPED", "BINLOG_PURGED: It is gone.", "Start again."):
        assert part in text


def test_a_relay_that_is_gone_is_told() -> None:
    text = shown(RUNNING, alive=False)
    assert "relay-1.example.org-4711 (gone)" in text
    assert "Its relay has ended" in text


def test_no_instance_is_a_sentence() -> None:
    assert "No instance is configured" in shown()


@WIDTHS
def test_rows_that_the_binlog_does_not_tell_are_warned_of_with_the_remedy(width: int) -> None:
    words = "The binlog lacks the changes that foreign keys make in d.c (ON DELETE CASCADE of d.p)."
    text = " ".join(shown(replace(RUNNING, unlogged_changes=words), width=width).split())
    assert words in text
    assert "roma reconcile --repair" in text
    assert "docs/limits.md" in text
    assert "reconcile" not in shown(RUNNING, width=width)
