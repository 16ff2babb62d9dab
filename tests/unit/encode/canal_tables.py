"""Builds tables and rows of the model back from Canal's own messages, so that the encoder can be
asked for the same bytes again.

Where Canal printed U+FFFD its message does not hold the value; the bytes then come from the
server's own answer.
"""

import json
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from relay.model.change import RowChange
from relay.model.table import Column, ColumnType, TableDefinition, TableId, TableMap
from relay.model.value import ABSENT, JsonDocument, Value

GOLDEN = Path(__file__).parents[2] / "golden"
SERVERS = ("mysql", "mariadb")
FIRST_SECOND = 1767225600
MINIMAL_IMAGES = range(376, 381)
NOBLOB_IMAGES = range(381, 386)

_TYPES = {
    "INT": ColumnType.LONG,
    "INTEGER": ColumnType.LONG,
    "TINYINT": ColumnType.TINY,
    "BOOL": ColumnType.TINY,
    "SMALLINT": ColumnType.SHORT,
    "MEDIUMINT": ColumnType.INT24,
    "BIGINT": ColumnType.LONGLONG,
    "DECIMAL": ColumnType.NEWDECIMAL,
    "NUMERIC": ColumnType.NEWDECIMAL,
    "FLOAT": ColumnType.FLOAT,
    "DOUBLE": ColumnType.DOUBLE,
    "REAL": ColumnType.DOUBLE,
    "DATE": ColumnType.DATE,
    "YEAR": ColumnType.YEAR,
    "TIME": ColumnType.TIME2,
    "DATETIME": ColumnType.DATETIME2,
    "TIMESTAMP": ColumnType.TIMESTAMP2,
    "CHAR": ColumnType.STRING,
    "NCHAR": ColumnType.STRING,
    "BINARY": ColumnType.STRING,
    "VARCHAR": ColumnType.VARCHAR,
    "NVARCHAR": ColumnType.VARCHAR,
    "VARBINARY": ColumnType.VARCHAR,
    "BIT": ColumnType.BIT,
    "ENUM": ColumnType.ENUM,
    "SET": ColumnType.SET,
}
_BYTES = frozenset({"BINARY", "VARBINARY", "TINYBLOB", "BLOB", "MEDIUMBLOB", "LONGBLOB"})
_NUMBERS = frozenset(
    {
        ColumnType.TINY,
        ColumnType.SHORT,
        ColumnType.INT24,
        ColumnType.LONG,
        ColumnType.LONGLONG,
        ColumnType.YEAR,
        ColumnType.BIT,
        ColumnType.ENUM,
        ColumnType.SET,
    }
)


@dataclass(frozen=True)
class CanalMessage:
    """One message as published, and what it says."""

    server: str
    raw: bytes
    body: dict[str, Any]

    @property
    def statement(self) -> int:
        return int(self.body["es"]) // 1000 - FIRST_SECOND


def canal_messages(server: str) -> Iterator[CanalMessage]:
    with (GOLDEN / f"canal_messages.{server}.jsonl").open("rb") as lines:
        for line in lines:
            yield CanalMessage(server, line.rstrip(b"\n"), json.loads(line))


def column_of(name: str, type_text: str, server: str) -> Column:
    """Make a column from Canal's type text."""
    match = re.match(r"([A-Za-z]+)", type_text)
    assert match is not None
    word = match[1].upper()
    arguments = re.findall(r"\((\d+)(?:,\s*(\d+))?\)", type_text)
    length, scale = (int(arguments[0][0]), int(arguments[0][1] or 0)) if arguments else (10, 0)
    kind = _TYPES.get(word, ColumnType.BLOB)
    if word == "JSON":
        kind = ColumnType.JSON if server == "mysql" else ColumnType.BLOB
    if "GEOM" in word or word.endswith(("POINT", "STRING", "POLYGON")):
        kind = ColumnType.GEOMETRY
    charset = "binary" if word in _BYTES else "utf8mb4"
    return Column(
        name,
        kind,
        nullable=True,
        length=length,
        scale=scale,
        unsigned="unsigned" in type_text.lower(),
        charset=charset,
    )


def value_of(column: Column, type_text: str, text: str | None) -> Value:
    """Read Canal's text back."""
    if text is None:
        return None
    if column.type in _NUMBERS:
        return int(text)
    if column.type in (ColumnType.FLOAT, ColumnType.DOUBLE):
        number = float(text)
        return (
            struct.unpack("f", struct.pack("f", number))[0]
            if column.type == ColumnType.FLOAT
            else number
        )
    if column.type == ColumnType.NEWDECIMAL:
        whole, _, fraction = text.partition(".")
        return f"{whole}.{fraction.ljust(column.scale, '0')}" if column.scale else text
    if column.type == ColumnType.JSON:
        return JsonDocument(json.loads(text))
    if column.type in (ColumnType.STRING, ColumnType.VARCHAR, ColumnType.BLOB, ColumnType.GEOMETRY):
        latin1 = (
            column.charset == "binary" or column.type == ColumnType.GEOMETRY or type_text == "JSON"
        )
        return text.encode("latin-1" if latin1 else "utf-8")
    return text


class Truth:
    """Bytes of string columns as the server itself gave them, by statement, table, first column and
    column.
    """

    def __init__(self, server: str) -> None:
        self._rows: dict[tuple[int, str, str], dict[str, Any]] = {}
        with (GOLDEN / f"truth.{server}.jsonl").open(encoding="utf-8") as lines:
            for line in lines:
                entry = json.loads(line)
                for row in entry["rows"]:
                    first = next(iter(row.values()))
                    if first is not None and first["text"] is not None:
                        self._rows[entry["stmt"], entry["table"], first["text"]] = row

    def raw(self, statement: int, table: str, row: dict[str, str | None], column: str) -> bytes:
        first = next(iter(row.values()))
        return bytes.fromhex(self._rows[statement, table, str(first)][column]["hex"])


def definition_of(message: CanalMessage, columns: dict[str, str]) -> TableDefinition:
    """Make the table of a message; `columns` are the type texts of all its columns."""
    body = message.body
    id_ = TableId(body["database"], body["table"])
    names = list(columns)
    key = tuple(names.index(name) for name in body["pkNames"] or ())
    if not key and message.statement in MINIMAL_IMAGES:
        key = (0,)
    map_ = TableMap(
        id_, tuple(column_of(name, text, message.server) for name, text in columns.items()), key
    )
    return TableDefinition(map_, key, tuple(columns.values()))


def changes_of(message: CanalMessage, definition: TableDefinition, truth: Truth) -> list[RowChange]:
    """Make the row changes of a message."""
    body = message.body
    changes = []
    for number, data in enumerate(body["data"]):
        image = tuple(
            _cell(message, definition, truth, data, i) for i in range(len(definition.map.columns))
        )
        if body["type"] == "INSERT":
            changes.append(RowChange(None, image))
        elif body["type"] == "DELETE":
            changes.append(RowChange(image, None))
        else:
            changes.append(
                RowChange(_before(message, definition, image, body["old"][number]), image)
            )
    return changes


def _cell(
    message: CanalMessage,
    definition: TableDefinition,
    truth: Truth,
    data: dict[str, str | None],
    ordinal: int,
) -> Value:
    column = definition.map.columns[ordinal]
    if column.name not in data:
        return ABSENT
    text = data[column.name]
    if text is not None and "\ufffd" in text:
        return truth.raw(message.statement, message.body["table"], data, column.name)
    return value_of(column, definition.type_texts[ordinal], text)


def _before(
    message: CanalMessage,
    definition: TableDefinition,
    image: tuple[Value, ...],
    old: dict[str, str | None],
) -> tuple[Value, ...]:
    before: list[Value] = []
    for ordinal, column in enumerate(definition.map.columns):
        if column.name in old:
            before.append(value_of(column, definition.type_texts[ordinal], old[column.name]))
        elif message.statement in MINIMAL_IMAGES:
            before.append(ABSENT if ordinal else 1)
        elif message.statement in NOBLOB_IMAGES and column.type == ColumnType.BLOB:
            before.append(ABSENT)
        else:
            before.append(image[ordinal])
    return tuple(before)
