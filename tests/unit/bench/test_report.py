"""The table as Markdown and JSON."""

import json
from io import StringIO
from pathlib import Path

from rich.console import Console

from tests.unit.bench.test_figures import A_RUN
from tools.bench.measuring.figures import LiveRun, summarize
from tools.bench.measuring.machine import Setting
from tools.bench.measuring.report import live_report, throughput_report

A_SETTING = Setting(
    "a CPU",
    2,
    24.0,
    "Linux 6",
    "3.11",
    {"Kafka": "4.1"},
    "python -m tools.bench throughput",
    "abc",
    "2026-01-01",
    0.5,
)
_LIVE = LiveRun("mariadb", "relay", 500.0, 100, 100, 7.25, 20.0, 31.0, 1.5, 10.0, 25.0, 90_000_000)


def test_markdown_has_one_line_a_contestant_and_says_where_it_was_measured() -> None:
    page = throughput_report([A_RUN], summarize([A_RUN], "peer"), "peer", ["a note"]).markdown(
        A_SETTING
    )
    lines = page.splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 3
    assert len({line.count("|") for line in table}) == 1
    assert (
        "| relay | 500 | - | - | 2,000 | - | 100 MB | 1.0 s | 900 | 2.0 MB/s | 3.0 s | 0.25 |"
        in table[2]
    )
    assert "- a note" in lines
    assert "a CPU, 2 cores, 24.0 GiB, Linux 6" in page
    assert "`python -m tools.bench throughput`, commit abc" in page


def test_what_is_written_can_be_read_again(tmp_path: Path) -> None:
    report = throughput_report([A_RUN], summarize([A_RUN], "relay"), "relay", [])
    report.write(tmp_path / "new", "throughput", A_SETTING)
    document = json.loads((tmp_path / "new" / "throughput.json").read_text(encoding="utf-8"))
    assert document["measured"][0]["rows"] == 1000
    assert document["setting"]["cores"] == 2
    assert (
        (tmp_path / "new" / "throughput.md")
        .read_text(encoding="utf-8")
        .startswith("# Rows from the binlog into Kafka\n")
    )


def test_the_terminal_shows_latency_and_idle_cpu() -> None:
    screen = StringIO()
    Console(width=200, file=screen).print(live_report([_LIVE], []).table())
    shown = screen.getvalue()
    for text in ("100 of 100", "7.2 ms", "20.0 ms", "1.5 %", "25 %", "90 MB"):
        assert text in shown
