"""One table of figures, for the terminal, as Markdown and as JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from rich import box
from rich.table import Table

from tools.bench.measuring.figures import LiveRun, Run, Summary
from tools.bench.measuring.machine import Setting

_NOTHING: Final = "-"
_MEGABYTE: Final = 1_000_000
Cells: TypeAlias = "Sequence[str]"


@dataclass(frozen=True, slots=True)
class Report:
    """A table with a title, notes on the method, the measured values, and the file name of a
    picture.
    """

    title: str
    head: Cells
    rows: Sequence[Cells]
    notes: Sequence[str]
    measured: Sequence[Mapping[str, Any]]
    picture: str = ""

    def table(self) -> Table:
        """Return the table for the terminal: texts left-aligned, figures right-aligned."""
        shown = Table(title=self.title, box=box.ASCII2)
        for number, name in enumerate(self.head):
            shown.add_column(
                name, justify="left" if number < _TEXT_COLUMNS else "right", overflow="fold"
            )
        for row in self.rows:
            shown.add_row(*row)
        return shown

    def markdown(self, setting: Setting) -> str:
        """Return the report as a Markdown page."""
        rule = ["---" if number < _TEXT_COLUMNS else "---:" for number in range(len(self.head))]
        table = [_line(self.head), _line(rule), *map(_line, self.rows)] if self.head else []
        picture = [f"![{self.title}]({self.picture})", ""] if self.picture else []
        return "\n".join(
            [
                f"# {self.title}",
                "",
                *picture,
                *table,
                "",
                *(f"- {note}" for note in self.notes),
                "",
                *_setting_lines(setting),
                "",
            ]
        )

    def write(self, folder: Path, name: str, setting: Setting) -> None:
        """Write `name`.md and `name`.json into the folder, which is made if missing."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.md").write_text(self.markdown(setting), encoding="utf-8")
        document = {
            "title": self.title,
            "setting": asdict(setting),
            "notes": list(self.notes),
            "measured": list(self.measured),
        }
        (folder / f"{name}.json").write_text(
            json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )


_TEXT_COLUMNS: Final = 2


def throughput_report(
    runs: Sequence[Run], summaries: Sequence[Summary], reference: str, notes: Sequence[str]
) -> Report:
    """Return a table of rows per second; ratios are relative to the contestant `reference`."""
    head = (
        "workload, server", "what", "rows/s", "slowest to fastest", f"times {reference}",
        "rows per CPU-s", f"times {reference}",
        "peak memory", "broker CPU", "bytes a row", "binlog", "start-up", "cores used by others",
    )  # fmt: skip
    rows = [_throughput_row(each) for each in summaries]
    return Report(
        "Rows from the binlog into Kafka", head, rows, notes, [asdict(run) for run in runs]
    )


def _throughput_row(each: Summary) -> Cells:
    return (
        f"{each.workload}, {each.server}",
        each.contestant,
        f"{each.rows_per_second:,.0f}",
        f"{each.slowest:,.0f} to {each.fastest:,.0f}" if each.rounds > 1 else _NOTHING,
        _ratio(each.times_reference),
        f"{each.rows_per_cpu_second:,.0f}",
        _ratio(each.cpu_times_reference),
        _NOTHING if each.peak_megabytes is None else f"{each.peak_megabytes:,.0f} MB",
        f"{each.broker_s:.1f} s",
        f"{each.bytes_per_row:,.0f}",
        f"{each.binlog_megabytes_per_second:.1f} MB/s",
        f"{each.startup_s:.1f} s",
        f"{max(0.0, each.other_cores):.2f}",
    )


def live_report(runs: Sequence[LiveRun], notes: Sequence[str]) -> Report:
    """Return a table of latencies."""
    head = (
        "server",
        "what",
        "tx/s",
        "seen",
        "p50",
        "p99",
        "max",
        "idle CPU",
        "CPU under load",
        "peak memory",
    )
    rows = [
        (
            each.server,
            each.contestant,
            f"{each.rate:,.0f}",
            f"{each.seen:,} of {each.sent:,}",
            f"{each.p50_ms:.1f} ms",
            f"{each.p99_ms:.1f} ms",
            f"{each.max_ms:.1f} ms",
            f"{each.idle_percent:.1f} %",
            f"{each.busy_percent:.0f} %",
            f"{each.peak_bytes / _MEGABYTE:,.0f} MB",
        )
        for each in runs
    ]
    return Report(
        "From the commit to the consumer", head, rows, notes, [asdict(run) for run in runs]
    )


def _ratio(value: float | None) -> str:
    return _NOTHING if value is None else f"{value:.1f}"


def _line(cells: Cells) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _setting_lines(setting: Setting) -> list[str]:
    hardware = f"{setting.cpu}, {setting.cores} cores, {setting.memory_gib} GiB, {setting.kernel}"
    programs = ", ".join(
        [
            f"Python {setting.python}",
            *(f"{name} {version}" for name, version in setting.versions.items()),
        ]
    )
    return [
        (
            f"Machine: {hardware}; all programs run on it; load average when it began: "
            f"{setting.load_before}."
        ),
        "",
        f"Programs: {programs}.",
        "",
        f"Command: `{setting.command}`, commit {setting.commit}, {setting.when}.",
    ]
