"""What the audit page shows."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from api.services.audit_book import AuditFilter
from relay.audit import AuditEntry

_CHARACTERS: Final = 200
_EXPORTED: Final = 10_000


@dataclass(frozen=True, slots=True)
class Field:
    """One field that an act changed, as it was and as it became. Empty: it was not there."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One entry with the fields that differ."""

    entry: AuditEntry
    fields: tuple[Field, ...]


def rows_of(entries: Iterable[AuditEntry]) -> list[AuditRow]:
    """Return the rows of the page."""
    return [AuditRow(each, tuple(_fields(each.before, each.after))) for each in entries]


def address(wanted: AuditFilter, *, before: int | None, lines: bool = False) -> str:
    """Return the query of another page with the same filter, or of its export as JSON lines."""
    asked: dict[str, object] = {"act": wanted.act, "subject": wanted.subject, "before": before}
    asked["actor" if lines else "who"] = wanted.actor
    if lines:
        asked |= {"format": "jsonl", "limit": _EXPORTED}
    return urlencode({name: each for name, each in asked.items() if each not in ("", None)})


def _fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterable[Field]:
    for name in dict.fromkeys([*before, *after]):
        texts = [_text(each[name]) if name in each else "" for each in (before, after)]
        if texts[0] != texts[1]:
            yield Field(name, *texts)


def _text(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}…"
