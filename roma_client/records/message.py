"""The JSON of a message: its rows, and the text around them, which neighbours share."""

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, TypeAlias

from roma_client.records.change import Operation

_BEGIN: Final = b'{"data":['
_ROWS_AT: Final = len(_BEGIN) - 1
_END_OF_DATA: Final = b'}],"database":"'
_OLD: Final = b',"old":[{'
_END_OF_OLD: Final = b'}],"pkNames":'
_TYPES: Final = ',"mysqlType":{'
_SQL_TYPES: Final = ',"sqlType":{'
_ENDS_OF_TYPES: Final = ('},"pkNames":', '},"old":')
_END_OF_SQL_TYPES: Final = '},"table":'
_DECODER: Final[Any] = json.JSONDecoder()
_SCAN: Final[Callable[[str, int], tuple[Any, int]]] = _DECODER.scan_once
"""Returns the value at an index of a text, and its end. Raises StopIteration, ValueError."""
_ROWS: Final = {each.value: each for each in Operation if each is not Operation.STATEMENT}
_FRAMES: Final = 256
"""Texts around rows that are kept parsed. Rows of one statement share theirs."""


class Frame:
    """A parsed message without its rows. It is shared: nobody may change it.

    name       `database.table`
    operation  None for a statement
    old        field `old`, None if it is null or was cut out
    has_old    whether it has that field
    bases      fields of a change that all rows have, by the kind of their values
    """

    __slots__ = ("bases", "has_old", "message", "name", "old", "operation")

    def __init__(self, message: Any) -> None:
        self.message = message
        self.name = f"{message['database']}.{message['table']}"
        self.operation = _ROWS.get(message["type"])
        self.old = message.get("old")
        self.has_old = "old" in message
        self.bases: dict[str, dict[str, Any]] = {}


Parts: TypeAlias = tuple[Frame, Any, Any]
"""A message: the frame, its rows, and their former columns; None for none."""


class _Newest:
    """The text around the rows of the newest message without former columns, and its frame.

    Clients in several threads share it: the pair is replaced as one.
    """

    pair: tuple[bytes, Frame] | None = None


def parts_of(value: bytes) -> Parts:
    """Return a parsed message. Raises ValueError, KeyError, TypeError.

    The rows and `old` are found by their neighbours, in the form in which the relay writes
    messages. In a string of JSON a quotation mark is escaped, so no value looks like one of these
    neighbours. The text around is the same for the rows of a statement, so it is parsed once. Every
    other form is parsed as a whole.
    """
    newest = _Newest.pair
    if newest is not None and value.endswith(newest[0]) and value.startswith(_BEGIN):
        text = value[_ROWS_AT : -len(newest[0])].decode()
        try:
            rows, end = _SCAN(text, 0)
        except StopIteration:  # no JSON: the error has the place in the whole value
            return whole(json.loads(value))
        if end == len(text):
            return newest[1], rows, newest[1].old
    return _cut(value)


def _cut(value: bytes) -> Parts:
    """Return the parts of a message whose surroundings are not those of the newest one."""
    end = value.find(_END_OF_DATA)
    if end < 0 or not value.startswith(_BEGIN):
        return whole(json.loads(value))
    rows, around = _scanned(value[_ROWS_AT : end + 2].decode()), value[end + 2 :]
    old = around.find(_OLD)
    if old < 0:
        frame = _frame(around)
        _Newest.pair = around, frame
        return frame, rows, frame.old
    old_end = around.find(_END_OF_OLD, old)
    if old_end < 0:
        return whole(json.loads(value))
    olds = _scanned(around[old + len(_OLD) - 2 : old_end + 2].decode())
    return _frame(around[:old] + around[old_end + 2 :]), rows, olds


def whole(message: Any) -> Parts:
    """Return the parts of a parsed message."""
    return Frame(message), message.get("data"), message.get("old")


@lru_cache(maxsize=_FRAMES)
def _frame(around: bytes) -> Frame:
    """Return the parsed text behind the rows of a message."""
    text = around.decode()
    types = text.find(_TYPES)
    # Longer neighbours than the bracket: a column's name may end like an object.
    end = max(text.find(each, types + len(_TYPES)) for each in _ENDS_OF_TYPES)
    sql_types = text.find(_SQL_TYPES, end)
    sql_end = text.find(_END_OF_SQL_TYPES, sql_types + len(_SQL_TYPES))
    if min(types, end, sql_types, sql_end) < 0:
        return Frame(_scanned("{" + text[1:]))
    message = _scanned("{" + text[1:types] + text[end + 1 : sql_types] + text[sql_end + 1 :])
    message["mysqlType"] = _object(text[types + len(_TYPES) - 1 : end + 1])
    message["sqlType"] = _object(text[sql_types + len(_SQL_TYPES) - 1 : sql_end + 1])
    return Frame(message)


def _scanned(text: str) -> Any:
    """Return a parsed text without spaces around it. Raises ValueError."""
    try:
        found, end = _SCAN(text, 0)
    except StopIteration:
        return json.loads(text)  # the error with its place
    if end != len(text):
        return json.loads(text)  # spaces, or the error with its place
    return found


@lru_cache(maxsize=1024)
def _object(text: str) -> Any:
    """Return a parsed object that is shared: nobody may change it. Raises ValueError.

    The types of a table's columns are the same text in each message.
    """
    return _scanned(text)
