"""Builds tables from messages: the rows of a consumer that applied them in order."""

from collections.abc import Iterable
from typing import Any, TypeAlias

Texts: TypeAlias = dict[str, "str | None"]


def fold(values: Iterable[dict[str, Any]]) -> dict[str, list[Texts]]:
    """Return the rows of each table; every change must find its row. Columns that are missing in a
    partial image keep their values; of DDL, TRUNCATE alone changes rows.
    """
    tables: dict[str, list[Texts]] = {}
    for value in values:
        rows = tables.setdefault(value["table"], [])
        if value["isDdl"]:
            tables[value["table"]] = [] if value["type"] == "TRUNCATE" else rows
            continue
        (row,) = value["data"]
        if value["type"] == "INSERT":
            rows.append(row)
            continue
        before = {**row, **(value["old"] or [{}])[0]}
        known = {name: before[name] for name in value["pkNames"] or before}
        (at, *_) = (number for number, each in enumerate(rows) if known.items() <= each.items())
        if value["type"] == "DELETE":
            del rows[at]
        else:
            rows[at] = {**rows[at], **row}
    return tables


def sorted_texts(rows: Iterable[Texts]) -> list[str]:
    """Return rows as sorted texts, which are equal for the same rows in any order."""
    return sorted(repr(sorted(row.items())) for row in rows)
