"""Applies partial updates of JSON (binlog_row_value_options=PARTIAL_JSON): computes the document
after from the document before and a list of changes.

A change is one byte of operation, a path and, except for REMOVE, a binary JSON value. Path and
value have length-encoded lengths before them (MySQL source: sql-common/json_diff.h). Changes are
applied in order.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from relay.decode.values.cursor import Cursor
from relay.decode.values.json_binary import MAX_DEPTH, parse_json
from relay.decode.values.malformed import Malformed
from relay.model.value import JsonDocument, JsonNode

_REPLACE, _INSERT, _REMOVE = range(3)
_LEG: Final = re.compile(
    r"""\.(?:(?P<quoted>"(?:[^"\\]|\\.)*")|(?P<key>[^\s."\[\]*]+))|\[(?P<index>\d{1,10})\]"""
)

Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class _Edit:
    operation: int
    path: Path
    value: JsonNode


def patched(document: JsonDocument, changes: bytes) -> JsonDocument:
    """Return the document after the changes. `document` is not changed.

    Raises Malformed if a change does not fit.
    """
    root = _copied(document.root)
    objects: dict[int, dict[str, JsonNode]] = {}
    for change in _changes(changes):
        parent, step = _parent(root, change.path)
        if isinstance(parent, dict) and isinstance(step, str):
            _in_object(parent, change, step)
            objects[id(parent)] = parent
        elif isinstance(parent, list) and isinstance(step, int):
            _in_array(parent, change, step)
        else:
            root = _new_root(change)
    for each in objects.values():
        _sort(each)
    return JsonDocument(root)


def _copied(node: JsonNode) -> JsonNode:
    if isinstance(node, dict):
        return {key: _copied(member) for key, member in node.items()}
    return [_copied(element) for element in node] if isinstance(node, list) else node


def _changes(raw: bytes) -> Iterator[_Edit]:
    cursor = Cursor(raw)
    while cursor.remaining:
        operation = cursor.unsigned(1, "a JSON change")
        if operation > _REMOVE:
            raise Malformed(f"the JSON change {operation} is unknown")
        path = _path(cursor.lenenc_bytes("a JSON path"))
        value = (
            None if operation == _REMOVE else parse_json(cursor.lenenc_bytes("a JSON value")).root
        )
        yield _Edit(operation, path, value)


def _path(raw: bytes) -> Path:
    try:
        text = raw.decode()
        legs, at = [], 1
        while at < len(text) and (leg := _LEG.match(text, at)):
            legs.append(_step(leg))
            at = leg.end()
    except ValueError as exc:
        raise Malformed(f"the JSON path {raw[:64]!r} cannot be read: {exc}") from exc
    if text[:1] != "$" or at < len(text) or len(legs) > MAX_DEPTH:
        raise Malformed(f"the JSON path {text[:64]!r} cannot be read")
    return tuple(legs)


def _step(leg: re.Match[str]) -> str | int:
    if leg["index"] is not None:
        return int(leg["index"])
    key: str = leg["key"] if leg["quoted"] is None else json.loads(leg["quoted"])
    return key


def _parent(root: JsonNode, path: Path) -> tuple[JsonNode, str | int]:
    """Return (container, step): the container that the last step of `path` refers to, and that
    step.

    The container is None if the path names the whole document.
    """
    parent: JsonNode = None
    last: str | int = 0
    node, known = root, True
    for step in path:
        if not known:
            raise Malformed(f"a JSON change names {last!r}, which does not exist")
        if step == 0 and not isinstance(node, list):
            continue  # in a path, a value that is no array is the first cell of an array
        parent, last = node, step
        node, known = _child(node, step)
    return parent, last


def _child(node: JsonNode, step: str | int) -> tuple[JsonNode, bool]:
    """Return (value at a step below a container, whether it exists)."""
    if isinstance(node, dict) and isinstance(step, str):
        return node.get(step), step in node
    if isinstance(node, list) and isinstance(step, int):
        return (node[step], True) if step < len(node) else (None, False)
    raise Malformed(f"a JSON change names {step!r} in a value that has none")


def _new_root(change: _Edit) -> JsonNode:
    if change.operation != _REPLACE:
        raise Malformed("a JSON change adds or removes a whole document")
    return change.value


def _in_object(node: dict[str, JsonNode], change: _Edit, key: str) -> None:
    if (key in node) is (change.operation == _INSERT):
        raise Malformed(
            f"a JSON change names the key {key!r}, which "
            f"{'exists' if key in node else 'does not exist'}"
        )
    if change.operation == _REMOVE:
        del node[key]
    else:
        node[key] = change.value


def _in_array(node: list[JsonNode], change: _Edit, index: int) -> None:
    if change.operation == _INSERT:
        node.insert(index, change.value)
    elif index >= len(node):
        raise Malformed(f"a JSON change names cell {index} of {len(node)}")
    elif change.operation == _REMOVE:
        del node[index]
    else:
        node[index] = change.value


def _sort(node: dict[str, JsonNode]) -> None:
    """Sort keys in the server's order: shorter ones first, then by their bytes."""
    members = sorted(node.items(), key=lambda member: (len(member[0].encode()), member[0].encode()))
    node.clear()
    node.update(members)
