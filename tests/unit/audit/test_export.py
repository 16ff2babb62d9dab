"""Exports of the audit trail: each entry once, and no cell that a spreadsheet runs."""

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.audit import AuditEntry, exported
from relay.audit.export import COLUMNS

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff20"])
def test_a_cell_that_a_spreadsheet_would_run_is_text(first: str) -> None:
    cell = f'{first}HYPERLINK("http://x")'
    entry = AuditEntry(cell, "act", cell, comment=cell, at_ms=0)
    (row,) = csv.DictReader(io.StringIO("".join(exported([entry], "csv")), newline=""))
    assert [row[name] for name in ("actor", "subject", "comment")] == [f"'{cell}"] * 3
    assert row["time"] == "1970-01-01T00:00:00.000+00:00"


@given(st.lists(st.builds(AuditEntry, _TEXT, _TEXT, _TEXT, comment=_TEXT), max_size=5))
def test_csv_has_each_entry_with_all_its_cells(entries: list[AuditEntry]) -> None:
    rows = list(csv.reader(io.StringIO("".join(exported(entries, "csv")), newline="")))
    assert tuple(rows[0]) == COLUMNS
    assert [row[2].removeprefix("'") for row in rows[1:]] == [
        each.actor.removeprefix("'") for each in entries
    ]
    assert all(len(row) == len(COLUMNS) for row in rows)
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)


def test_json_lines_hold_what_was_written() -> None:
    entry = AuditEntry("ann", "act", "", {"a": 1}, {"a": "line\nbreak"}, "why", 5)
    (line,) = "".join(exported([entry], "jsonl")).splitlines()
    assert json.loads(line)["after"] == {"a": "line\nbreak"}
    assert json.loads(line)["via"] == "relay"
