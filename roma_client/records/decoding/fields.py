"""Reads the fields of a change that are not in its row."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from roma_client.records.change import SourcePosition
from roma_client.records.decoding.orders import Headers
from roma_client.records.record import (
    HISTORY,
    INSTANCE,
    REAL,
    SNAPSHOT,
    SOURCE,
    UNKNOWN,
    Record,
)

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NONE: Final[frozenset[str]] = frozenset()
_WITHOUT_HEADERS: Final = MappingProxyType(
    {
        "source": None,
        "real": None,
        "instance": None,
        "snapshot": False,
        "history": None,
        "unknown": _NONE,
    }
)
"""Fields of a change whose record has the usual headers only."""


def common_fields(record: Record, headers: Headers, message: Mapping[str, Any]) -> dict[str, Any]:
    """Return those fields of a statement, or of another change without a row, that row changes have
    too.
    """
    return {
        **fields_of_message(message),
        **fields_of_headers(headers),
        "tags": record.tags,
        "sql_types": {**(message.get("sqlType") or {})},
        "place": record.place,
    }


def fields_of_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that all rows of a message have, if its record has only the usual
    headers.
    """
    return {
        **_WITHOUT_HEADERS,
        "database": message["database"],
        "table": message["table"],
        "key_columns": tuple(message["pkNames"] or ()),
        "transaction_id": message["gtid"] or None,
        "sql": None,
        "event_time": _time(message["es"]),
        "kind": message["type"],
        "is_ddl": bool(message.get("isDdl")),
    }


def fields_of_headers(headers: Headers) -> dict[str, Any]:
    """Return the fields of a change that are in headers other than the usual ones."""
    source, get = headers.get(SOURCE), headers.get
    return {
        "source": None if source is None else _source(source),
        "real": _text(get(REAL)),
        "instance": _text(get(INSTANCE)),
        "snapshot": get(SNAPSHOT) is not None,
        "history": _text(get(HISTORY)),
        "unknown": unknown_columns(headers, "data", "old"),
    }


@lru_cache(maxsize=1024)
def _time(milliseconds: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=milliseconds)


def _source(header: bytes) -> SourcePosition:
    server, rest = header.decode().split(":", 1)
    file, offset = rest.rsplit(":", 1)
    return SourcePosition(int(server), file, int(offset))


def _text(header: bytes | None) -> str | None:
    return header if header is None else header.decode("utf-8")


def unknown_columns(headers: Headers, *images: str) -> frozenset[str]:
    """Return the columns that the binlog did not contain; `images` selects those of `data` or
    `old`.
    """
    header = headers.get(UNKNOWN)
    if not header:
        return _NONE
    unknown = json.loads(header)
    return frozenset(name for image in images for name in unknown.get(image, ()))
