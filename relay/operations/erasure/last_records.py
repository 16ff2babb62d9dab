"""Recognises messages about deleted rows, in every JSON format. The function is pure."""

from typing import Any, Final

import orjson

_DELETE_OP: Final = "d"
"""`op` of Debezium's envelope."""
_DELETE_TYPE: Final = "delete"
"""The last word of `type` in Canal's and Maxwell's JSON and in CloudEvents, in lower case."""


def is_delete(value: bytes) -> bool:
    """Return whether the message is about a deleted row; False also for a message that
    is not JSON.
    """
    try:
        document = orjson.loads(value)
    except orjson.JSONDecodeError:
        return False
    if not isinstance(document, dict):
        return False
    payload: Any = document.get("payload", document)
    fields = payload if isinstance(payload, dict) else document
    kind = str(fields.get("type", "")).lower().rpartition(".")[2]
    return fields.get("op") == _DELETE_OP or kind == _DELETE_TYPE
