"""The JSON of a message: its rows, and the text around them, which neighbours share."""

import json
from functools import lru_cache
from typing import Any, Final, NamedTuple

from roma_client.records.change import Operation

_BEGIN: Final = b'{"data":['
_END_OF_DATA: Final = b'}],"database":"'
_OLD: Final = b',"old":[{'
_END_OF_OLD: Final = b'}],"pkNames":'
_TYPES: Final = ',"mysqlType":{'
_SQL_TYPES: Final = ',"sqlType":{'
_ENDS_OF_TYPES: Final = ('},"pkNames":', '},"old":')
_END_OF_SQL_TYPES: Final = '},"table":'
_DECODER: Final = json.JSONDecoder()
_ROWS: Final = {each.value: each for each in Operation if each is not Operation.STATEMENT}
_FRAMES: Final = 256
"""Texts around rows that are kept parsed. Rows of one statement share theirs."""


class Frame:
    """A parsed message without its rows. It is shared: nobody may change it.

    name       `database.table`
    operation  None for a statement
    base       fields of a change that all rows have, once they were needed
    """

    __slots__ = ("base", "message", "name", "operation")

    def __init__(self, message: Any) -> None:
        self.message = message
        self.name = f"{message['database']}.{message['table']}"
        self.operation = _ROWS.get(message["type"])
        self.base: dict[str, Any] | None = None


class Parts(NamedTuple):
    """A message: the frame, its rows, and their former columns; None for none."""

    frame: Frame
    rows: Any
    olds: Any


def parts_of(value: bytes) -> Parts:
    """Return a parsed message. Raises ValueError, KeyError, TypeError.

    The rows and `old` are found by their neighbours, in the form in which the relay writes
    messages. In a string of JSON a quotation mark is escaped, so no value looks like one of these
    neighbours. The text around is the same for the rows of a statement, so it is parsed once. Every
    other form is parsed as a whole.
    """
    end = value.find(_END_OF_DATA)
    if end < 0 or not value.startswith(_BEGIN):
        return whole(json.loads(value))
    rows, around = _scanned(value[len(_BEGIN) - 1 : end + 2].decode()), value[end + 2 :]
    old = around.find(_OLD)
    if old < 0:
        frame = _frame(around)
        return Parts(frame, rows, frame.message.get("old"))
    old_end = around.find(_END_OF_OLD, old)
    if old_end < 0:
        return whole(json.loads(value))
    olds = _scanned(around[old + len(_OLD) - 2 : old_end + 2].decode())
    return Parts(_frame(around[:old] + around[old_end + 2 :]), rows, olds)


def whole(message: Any) -> Parts:
    """Return the parts of a parsed message."""
    return Parts(Frame(message), message.get("data"), message.get("old"))


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
    found, end = _DECODER.raw_decode(text)
    if end != len(text):
        return json.loads(text)  # spaces, or the error with its place
    return found


@lru_cache(maxsize=1024)
def _object(text: str) -> Any:
    """Return a parsed object that is shared: nobody may change it. Raises ValueError.

    The types of a table's columns are the same text in each message.
    """
    return _scanned(text)
