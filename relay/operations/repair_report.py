"""Converts the findings of `roma reconcile --json` into copy requests that publish the present rows
of the differing keys again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
from pydantic import BaseModel, ValidationError, field_validator

from relay.errors import SnapshotRefused
from relay.operations.wanted_snapshots import MOST_KEYS, WantedSnapshot

_NOT_ON_SOURCE: Final = "the source has no such row"
"""Text of a finding for a row that the copy has and the source lacks."""
_NO_TEXTS: Final = "have bytes that are not characters of their column"
_BY_CONDITION: Final = "Name the rows by a condition: `roma snapshot start --where`."
_REMEDY: Final = "Give the output of `roma reconcile --json` as a file."


class _Row(BaseModel):
    """A differing row of a report: the key of its messages, and the differing columns."""

    key: str
    what: list[str]

    @field_validator("what", mode="before")
    @classmethod
    def _listed(cls, what: object) -> object:
        return [what] if isinstance(what, str) else what


class _Table(BaseModel):
    """The findings of one table. Findings that no repair uses are not read."""

    table: str
    different: list[_Row] | None
    undecided: list[Any] | None = None
    more: int | None = None
    reason: str | None = None


class _Report(BaseModel):
    """The output of `roma reconcile --json`."""

    tables: list[_Table]


@dataclass(frozen=True, slots=True)
class RepairPlan:
    """The copy requests that repair the differences in a report (`wanted`), each with at most
    MOST_KEYS keys.

    `left_out` are sentences for operators about rows that no copy request can repair.
    """

    wanted: Sequence[WantedSnapshot]
    left_out: Sequence[str]


def repair_of_keys(table: str, texts: Iterable[str]) -> WantedSnapshot:
    """Return the copy request that publishes the present rows of the given keys again.

    Each text of `texts` is the value of a key with one column, or a JSON array. The array has the
    values of the columns, or it is a message's key, which begins with the name of its table. Empty
    texts are ignored. Raises SnapshotRefused for a key that cannot be read, or if there is no key.
    """
    keys = tuple(_named_key(table, each.strip()) for each in texts if each.strip())
    if not keys:
        raise SnapshotRefused(
            "No key is given.", remedy="Give the keys of the rows to publish again."
        )
    return WantedSnapshot((table,), keys=keys)


def _named_key(table: str, text: str) -> tuple[str, ...]:
    if not text.startswith("["):
        return (text,)
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError as exc:
        raise SnapshotRefused(
            f"{text!r} is neither a text nor a JSON array.",
            remedy='Write a key as 90217744, or of several columns as ["7", "EU"].',
        ) from exc
    if not all(map(_is_text, found)):
        raise SnapshotRefused(
            f"{text!r} cannot name a row: its parts {_NO_TEXTS}, or are not texts.",
            remedy=_BY_CONDITION,
        )
    parts = [str(each) for each in found]
    return tuple(parts[1:] if parts[:1] == [table] else parts)


def repair_plan(report: bytes) -> RepairPlan:
    """Return the copy requests for a report. Raises SnapshotRefused if the document is not a report
    of `roma reconcile --json`.
    """
    wanted: list[WantedSnapshot] = []
    left_out: list[str] = []
    for table in _tables(report):
        keys, absent, nameless = _keys(table)
        wanted += [
            WantedSnapshot((table.table,), keys=tuple(keys[at : at + MOST_KEYS]))
            for at in range(0, len(keys), MOST_KEYS)
        ]
        left_out += _left_out(table, absent, nameless)
    return RepairPlan(wanted, left_out)


def _tables(report: bytes) -> list[_Table]:
    try:
        tables = _Report.model_validate_json(report).tables
    except ValidationError as exc:
        first = exc.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "its beginning"
        raise SnapshotRefused(
            f"The file is not a report of `roma reconcile`: at {place}: {first['msg']}.",
            remedy=_REMEDY,
        ) from exc
    return [each for each in tables if each.table and each.different is not None]


def _keys(table: _Table) -> tuple[list[tuple[str, ...]], int, int]:
    """Return the keys to publish, the number of rows that the source lacks, and the number of keys
    with bytes that are not characters.
    """
    keys, absent, nameless = [], 0, 0
    for each in table.different or ():
        parts = _parts(table.table, each.key)
        if any(_NOT_ON_SOURCE in what for what in each.what):
            absent += 1
        elif parts is None:
            nameless += 1
        else:
            keys.append(parts)
    return keys, absent, nameless


def _is_text(part: object) -> bool:
    """Return whether a part of a key is the text of a value, or a number that an operator wrote."""
    return isinstance(part, str) or (isinstance(part, int) and not isinstance(part, bool))


def _parts(name: str, key: str) -> tuple[str, ...] | None:
    """Return the texts of the columns of a message's key, None if a column has no text.

    A key contains an object for bytes that are invalid in the column's character set. No request
    can name such a row. Raises SnapshotRefused.
    """
    try:
        parts = orjson.loads(key)
    except orjson.JSONDecodeError as exc:
        raise SnapshotRefused(f"{key!r} is not a key of {name}: {exc}.", remedy=_REMEDY) from exc
    if not (isinstance(parts, list) and len(parts) > 1 and parts[0] == name):
        raise SnapshotRefused(f"{key!r} is not a key of {name}.", remedy=_REMEDY)
    return tuple(map(str, parts[1:])) if all(map(_is_text, parts)) else None


def _left_out(table: _Table, absent: int, nameless: int) -> list[str]:
    name, told = table.table, []
    if absent:
        told.append(
            f"{name}: {absent:,} rows are not on the source. No message can express this, "
            "because another shard may have them: `roma reconcile --repair` removes them from "
            "the copy."
        )
    if nameless:
        told.append(
            f"{name}: {nameless:,} keys {_NO_TEXTS}, so a request cannot name their rows. "
            f"{_BY_CONDITION}"
        )
    if table.more:
        told.append(f"{name}: {table.more:,} more rows differ, and the report does not name them.")
    if table.undecided:
        told.append(
            f"{name}: {len(table.undecided):,} rows had changes that were not "
            "published yet. Compare again later."
        )
    if table.reason:
        told.append(f"{name} was not compared: {table.reason}.")
    return told
