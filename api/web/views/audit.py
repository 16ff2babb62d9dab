"""Computes the data of the template of the audit page."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from relay.audit import AuditEntry, AuditFilter

_CHARACTERS: Final = 200
_EXPORTED: Final = 10_000


@dataclass(frozen=True, slots=True)
class Field:
    """A field that an act changed, with its values before and after the act. An empty value means
    that it did not exist.
    """

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One audit entry with the fields that it changed."""

    entry: AuditEntry
    fields: tuple[Field, ...]


def rows_of(entries: Iterable[AuditEntry]) -> list[AuditRow]:
    """Return the rows of the page for audit entries."""
    return [AuditRow(each, tuple(_fields(each.before, each.after))) for each in entries]


def address(wanted: AuditFilter, *, before: int | None, form: str = "") -> str:
    """Return the query string of another page of the list, or of its export.

    wanted  the filter, which stays the same
    before  time before which the page begins (Unix milliseconds); None: the first page
    form    format of the export; empty: a page
    """
    asked: dict[str, object] = {"act": wanted.act, "subject": wanted.subject, "before": before}
    asked["actor" if form else "who"] = wanted.actor
    asked |= {"comment": wanted.comment, "via": wanted.via}
    if form:
        asked |= {"format": form, "limit": _EXPORTED}
    return urlencode({name: each for name, each in asked.items() if each not in ("", None)})


def _fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterable[Field]:
    for name in dict.fromkeys([*before, *after]):
        texts = [_text(each[name]) if name in each else "" for each in (before, after)]
        if texts[0] != texts[1]:
            yield Field(name, *texts)


def _text(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}…"
