"""The JSON of a message, parsed with as little work as its form permits."""

import json
from functools import lru_cache
from typing import Any, Final

_END_OF_DATA: Final = '}],"database":"'
_TYPES: Final = ',"mysqlType":{'
_END_OF_TYPES: Final = '},"old":'
_SQL_TYPES: Final = ',"sqlType":{'
_END_OF_SQL_TYPES: Final = '},"table":'
_DECODER: Final = json.JSONDecoder()


def message_of(value: bytes) -> Any:
    """Return the parsed value. Raises ValueError.

    The types of a table's columns are the same text in each message, so they are parsed once. They
    are found by their neighbours, in the form in which the relay writes messages. In a string of
    JSON a quotation mark is escaped, so no value looks like one of these neighbours. Every other
    form is parsed as a whole.
    """
    text = value.decode()
    data = text.find(_END_OF_DATA)
    types = text.find(_TYPES, data)
    end = text.find(_END_OF_TYPES, types)
    sql_types = text.find(_SQL_TYPES, end)
    sql_end = text.find(_END_OF_SQL_TYPES, sql_types)
    if min(data, types, end, sql_types, sql_end) < 0:
        return json.loads(text)
    message = _whole(text[:types] + text[end + 1 : sql_types] + text[sql_end + 1 :])
    message["mysqlType"] = _object(text[types + len(_TYPES) - 1 : end + 1])
    message["sqlType"] = _object(text[sql_types + len(_SQL_TYPES) - 1 : sql_end + 1])
    return message


def _whole(text: str) -> Any:
    """Return a parsed text without spaces around it. Raises ValueError."""
    found, end = _DECODER.raw_decode(text)
    if end != len(text):
        return json.loads(text)  # spaces, or the error with its place
    return found


@lru_cache(maxsize=1024)
def _object(text: str) -> Any:
    """Return a parsed object that is shared: nobody may change it. Raises ValueError."""
    return _whole(text)
