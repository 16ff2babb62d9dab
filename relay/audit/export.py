"""Entries of the audit trail as files: JSON lines, and CSV for spreadsheets."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias

import orjson

from relay.audit.entry import AuditEntry

ExportForm: TypeAlias = Literal["jsonl", "csv"]

COLUMNS: Final = ("time", "at_ms", "actor", "act", "subject", "before", "after", "comment", "via")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001
"""First characters of cells that a spreadsheet would run as a formula."""


def exported(entries: Iterable[AuditEntry], form: ExportForm) -> Iterator[str]:
    """Yield the lines of an export with their line ends. `form` is JSON lines or CSV with a
    header.
    """
    return csv_lines(entries) if form == "csv" else json_lines(entries)


def json_lines(entries: Iterable[AuditEntry]) -> Iterator[str]:
    """Yield each entry as one JSON object."""
    for each in entries:
        yield f"{json_line(each)}\n"


def json_line(entry: AuditEntry) -> str:
    """Return an entry as one line of JSON."""
    return orjson.dumps(entry.to_fields()).decode()


def csv_lines(entries: Iterable[AuditEntry]) -> Iterator[str]:
    """Yield the header and a line for each entry (RFC 4180).

    `time` is UTC in ISO 8601; `before` and `after` are JSON. A cell that a spreadsheet would run as
    a formula begins with an apostrophe.
    """
    yield _line(COLUMNS)
    for each in entries:
        moment = datetime.fromtimestamp(each.at_ms / 1000, UTC).isoformat(timespec="milliseconds")
        texts = (each.actor, each.act, each.subject, _json(each.before), _json(each.after))
        cells = [harmless(text) for text in (*texts, each.comment, each.via)]
        yield _line((moment, str(each.at_ms), *cells))


def harmless(cell: str) -> str:
    """Return a cell that a spreadsheet does not run as a formula: an apostrophe is added if
    necessary.
    """
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def _json(fields: Mapping[str, Any]) -> str:
    return orjson.dumps(dict(fields)).decode() if fields else ""


def _line(cells: Iterable[str]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue()
