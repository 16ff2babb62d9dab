"""Reads the rows of a dead letter, column by column."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from relay.dead_letters import DeadLetter, formats_of
from relay.envelope import DATA, DATABASE, KEY_NAMES, OLD, ROW_TYPES, TABLE, TYPE, MessageType
from relay.kafka import TailRecord
from relay.model.table import TableId
from relay.operations.peek.hidden_columns import HiddenColumns
from relay.operations.peek.rows import PeekedColumn, PeekedRow, RowReader

_READ: Final = "canal-json"
_UNREADABLE: Final = (KeyError, TypeError, ValueError, AttributeError, IndexError)
_PARTIAL: Final = "The source did not log every column. A value that is missing is shown as null."


@dataclass(frozen=True, slots=True)
class LetterRows:
    """The rows in a dead letter, column by column before and after the change.

    rows   the requested rows, without hidden values
    count  the number of all rows in the message
    note   why no row is shown, or what the rows lack; "" for neither
    hides  whether the value contains, or may contain, values that must not be shown
    """

    rows: tuple[PeekedRow, ...] = ()
    count: int = 0
    note: str = ""
    hides: bool = False


def letter_rows(letter: DeadLetter, hidden: HiddenColumns, numbers: slice) -> LetterRows:
    """Return the rows with these `numbers` in a dead letter, without the values of `hidden`
    columns.

    If they cannot be shown, the result has no rows, and its `note` says why.
    """
    value = letter.message.value
    if value is None:
        return LetterRows(note="The message is a tombstone: it has no columns.")
    try:
        document = orjson.loads(value)
        if letter.is_message:
            return _of_message(letter, document, hidden, numbers)
        return _of_row(letter, document, hidden, numbers)
    except _UNREADABLE:
        return LetterRows(note=_why(letter, value), hides=not hidden.is_empty)


def _of_message(
    letter: DeadLetter, value: Mapping[str, Any], hidden: HiddenColumns, numbers: slice
) -> LetterRows:
    kind = MessageType(value[TYPE])
    if kind not in ROW_TYPES:
        note = f"The message is a statement ({kind}): it has no columns."
        return LetterRows(note=note, hides=not hidden.is_empty)
    name, message = TableId(value[DATABASE], value[TABLE]), letter.message
    place = (message.partition, 0, letter.written_ms)
    record = TailRecord(*place, None, message.value, message.headers)
    rows = RowReader(message.topic, frozenset({name}), hidden).rows_of(record, value, numbers)
    hides = _hides(_names(value), value[KEY_NAMES] or (), letter.real, hidden)
    return LetterRows(tuple(rows), len(value[DATA] or ()) or len(rows), "", hides)


def _names(value: Mapping[str, Any]) -> set[str]:
    images = (*(value[DATA] or ()), *(value[OLD] or ()))
    return {name for image in images for name in image or ()}


def _of_row(
    letter: DeadLetter, value: Mapping[str, Any], hidden: HiddenColumns, numbers: slice
) -> LetterRows:
    """Return the row that no message could be made of (`row_values` of the publisher)."""
    before, after = value["before"], value["after"]
    types = {each["name"]: each["type"] for each in value["columns"]}
    images = [each for each in (before, after) if each is not None]
    columns = tuple(_columns(types, (before, after), letter.real, hidden))
    row = PeekedRow(
        topic=letter.message.topic,
        partition=letter.message.partition,
        offset=0,
        row=0,
        at_ms=letter.written_ms,
        operation=_operation(before, after),
        key=(),
        key_hidden=any(each.hidden for each in columns),
        columns=columns,
        order=None,
        tags=(),
        headers={},
    )
    is_partial = any(name not in image for image in images for name in types)
    hides = _hides(set(types), (), letter.real, hidden)
    rows = (row,) if 0 in range(1)[numbers] else ()
    return LetterRows(rows, 1, _PARTIAL if is_partial else "", hides)


def _columns(
    types: Mapping[str, str],
    images: tuple[Mapping[str, Any] | None, Mapping[str, Any] | None],
    real: str,
    hidden: HiddenColumns,
) -> Iterator[PeekedColumn]:
    before, after = ({} if each is None else each for each in images)
    for name, kind in types.items():
        if hidden.omits(name, ()):
            continue
        is_hidden = hidden.masks(name, real)
        texts = [None if is_hidden else _text(each.get(name)) for each in (before, after)]
        changed = None not in images and before.get(name) != after.get(name)
        yield PeekedColumn(name, kind, False, texts[0], texts[1], changed, is_hidden)


def _hides(names: set[str], key: tuple[str, ...], real: str, hidden: HiddenColumns) -> bool:
    return any(hidden.masks(each, real) or hidden.omits(each, key) for each in names)


def _operation(before: object, after: object) -> str:
    if before is None:
        return MessageType.INSERT.value
    return MessageType.DELETE.value if after is None else MessageType.UPDATE.value


def _text(value: Any) -> str | None:
    """Return a value as text; bytes stay in base64, other values are JSON."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict) and set(value) == {"base64"}:
        return str(value["base64"])
    return orjson.dumps(value).decode()


def _why(letter: DeadLetter, value: bytes) -> str:
    found = formats_of(value) if letter.is_message else []
    if found and _READ not in found:
        return f"The message has the format {' or '.join(found)}. Columns are shown for {_READ}."
    what = f"a message of the format {_READ}" if letter.is_message else "a row"
    return f"The value cannot be read as {what}, so its columns are not shown."
