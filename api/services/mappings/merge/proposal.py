"""Proposes mapping entries for a real table that no document lists."""

import json
from collections.abc import Mapping

from api.middleware.request_body import pretty_document
from relay.route import DBS, TBS, TOPICS


def proposal(bodies: Mapping[str, str], table: str) -> dict[str, str]:
    """Return the documents with added entries that map a real table to its own name.

    table  `database.table`

    A document that is not a list stays unchanged.
    """
    database, _, name = table.partition(".")
    found = dict(bodies)
    if not _lists(bodies.get(DBS, ""), "realDbs", database):
        _add(found, DBS, {"logicDb": database, "realDbs": database})
        if not _lists(bodies.get(TOPICS, ""), "logicDb", database):
            _add(found, TOPICS, {"logicDb": database, "topic": database})
    if name and name != "*":
        _add(found, TBS, {"logicTb": name, "realTbs": table})
    return found


def _entries(text: str) -> list[object] | None:
    try:
        parsed = json.loads(text) if text.strip() else []
    except ValueError:
        return None
    return parsed if isinstance(parsed, list) else None


def _lists(text: str, key: str, name: str) -> bool:
    for entry in _entries(text) or []:
        value = entry.get(key) if isinstance(entry, dict) else None
        names = value.split(",") if isinstance(value, str) else value
        if isinstance(names, list) and name in [str(each).strip() for each in names]:
            return True
    return False


def _add(bodies: dict[str, str], data_id: str, entry: Mapping[str, str]) -> None:
    entries = _entries(bodies.get(data_id, ""))
    if entries is not None:
        bodies[data_id] = pretty_document([*entries, entry])
