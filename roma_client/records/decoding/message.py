"""Parses the JSON of a message. The text around the rows is parsed only once if consecutive
messages have the same text.
"""

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from roma_client.records.change import Operation
from roma_client.records.values import Columns

_BEGIN: Final = b'{"data":['
_ROWS_AT: Final = len(_BEGIN) - 1
_END_OF_DATA: Final = b'}],"database":"'
_OLD: Final = b',"old":[{'
_FORMER: Final = "[{"
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
    """A parsed message without its rows. Changes share it, so it must not be modified.

    name       `database.table`
    operation  kind of row change; None for a statement
    old        field `old`; None if it is null or was cut out
    has_old    whether the message has the field `old`
    columns    types of its columns
    image      the field of a Change (before or after) that gets the values of the rows
    bases      fields of a Change that all rows share, by the kind of their values
    """

    __slots__ = ("bases", "columns", "has_old", "image", "message", "name", "old", "operation")

    def __init__(self, message: Any, columns: Columns | None = None) -> None:
        """`columns`: those of the message, if they are made already."""
        self.message = message
        self.columns = Columns(message.get("mysqlType") or {}) if columns is None else columns
        self.name = f"{message['database']}.{message['table']}"
        self.operation = _ROWS.get(message["type"])
        self.old = message.get("old")
        self.has_old = "old" in message
        is_delete = self.operation is Operation.DELETE
        self.image = "before_texts" if is_delete else "after_texts"
        self.bases: dict[str, dict[str, Any]] = {}


Parts: TypeAlias = tuple[Frame, Any, Any]
"""The parts of a message: frame, rows, and former columns. A part is None if the message lacks
it.
"""


class Neighbour(NamedTuple):
    """The text around the rows of a message. The next message often has the same text.

    frame  the parsed text
    begin  the text between the rows and their former columns; without such columns, the whole text
           after the rows
    end    the text after the former columns; None without such columns
    """

    frame: Frame
    begin: bytes
    end: bytes | None = None

    def parts(self, value: bytes) -> Parts | None:
        """Return the parts of the message `value`, if the text around its rows is the same as here;
        otherwise None.
        """
        frame, begin, end = self
        at = len(value) - len(begin) if end is None else value.find(_END_OF_DATA) + 2
        if not (value.startswith(begin, at) and value.startswith(_BEGIN)):
            return None
        text = value[_ROWS_AT:at].decode()
        try:
            rows, stop = _SCAN(text, 0)
            if end is None:
                return (frame, rows, None) if stop == len(text) else None
            former = value[at + len(begin) : -len(end)].decode()
            olds, last = _SCAN(former, 0)
        except (StopIteration, ValueError):  # the error has the place in the whole value
            return None
        is_whole = (stop, last) == (len(text), len(former)) and value.endswith(end)
        return (frame, rows, olds) if is_whole and former.startswith(_FORMER) else None


def parts_of(value: bytes) -> tuple[Parts, Neighbour | None]:
    """Return the parts of a message, and the text around its rows (None: the message has another
    form).

    The rows and `old` are found by the text before and after them, in the form in which the relay
    writes messages. In a JSON string a quotation mark is escaped, so no value looks like that text.
    Other forms are parsed as a whole. Raises ValueError, KeyError, TypeError.
    """
    end = value.find(_END_OF_DATA)
    if end < 0 or not value.startswith(_BEGIN):
        return whole(json.loads(value)), None
    rows, around = _scanned(value[_ROWS_AT : end + 2].decode()), value[end + 2 :]
    old = around.find(_OLD)
    if old < 0:
        frame = _frame(around)
        same = Neighbour(frame, around) if frame.old is None else None
        return (frame, rows, frame.old), same
    old_end = around.find(_END_OF_OLD, old)
    if old_end < 0:
        return whole(json.loads(value)), None
    begin, behind = old + len(_OLD) - 2, old_end + 2
    frame = _frame(around[:old] + around[behind:])
    olds = _scanned(around[begin:behind].decode())
    return (frame, rows, olds), Neighbour(frame, around[:begin], around[behind:])


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
    columns = _columns(text[types + len(_TYPES) - 1 : end + 1])
    message["mysqlType"] = columns.types
    message["sqlType"] = _object(text[sql_types + len(_SQL_TYPES) - 1 : sql_end + 1])
    return Frame(message, columns)


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


@lru_cache(maxsize=1024)
def _columns(text: str) -> Columns:
    """Return the columns whose types are this object. Raises ValueError."""
    return Columns(_scanned(text))
