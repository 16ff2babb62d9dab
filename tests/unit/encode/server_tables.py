"""Columns and values of the model from the servers' own answers (`truth.*.jsonl`), with the text
that must be printed.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from relay.model.table import Column, ColumnType
from relay.model.value import JsonDocument, Value
from tests.unit.encode.canal_tables import GOLDEN

_TYPES = {
    "tinyint": ColumnType.TINY,
    "smallint": ColumnType.SHORT,
    "mediumint": ColumnType.INT24,
    "int": ColumnType.LONG,
    "bigint": ColumnType.LONGLONG,
    "decimal": ColumnType.NEWDECIMAL,
    "float": ColumnType.FLOAT,
    "double": ColumnType.DOUBLE,
    "date": ColumnType.DATE,
    "year": ColumnType.YEAR,
    "time": ColumnType.TIME2,
    "datetime": ColumnType.DATETIME2,
    "timestamp": ColumnType.TIMESTAMP2,
    "char": ColumnType.STRING,
    "binary": ColumnType.STRING,
    "varchar": ColumnType.VARCHAR,
    "varbinary": ColumnType.VARCHAR,
    "bit": ColumnType.BIT,
    "enum": ColumnType.ENUM,
    "set": ColumnType.SET,
    "json": ColumnType.JSON,
}
_BLOB_LENGTH_BYTES = {"tiny": 1, "": 2, "medium": 3, "long": 4}
_GEOMETRY_TYPES = (
    "geometry",
    "point",
    "linestring",
    "polygon",
    "multipoint",
    "multilinestring",
    "multipolygon",
    "geomcollection",
)
_BYTES_OF_CHARACTERS = {
    "utf8mb4": 4,
    "utf8mb3": 3,
    "gbk": 2,
    "utf16": 4,
    "utf16le": 4,
    "utf32": 4,
    "ucs2": 2,
    "gb2312": 2,
    "big5": 2,
}
_BYTES_OF_CHARACTERS |= {"sjis": 2, "ujis": 3, "euckr": 2}


@dataclass(frozen=True)
class Cell:
    """One value of a server's table: the column, its type as the server writes it, what the binlog
    holds, what must be printed.
    """

    place: str
    column: Column
    type_text: str
    value: Value
    text: str


def server_cells(server: str) -> Iterator[Cell]:
    with (GOLDEN / f"truth.{server}.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            columns = {name: column_of(name, facts) for name, facts in entry["columns"].items()}
            for row in entry["rows"]:
                for name, cell in row.items():
                    if cell is not None:
                        column, type_text = columns[name], entry["columns"][name]["type"]
                        value, text = _value(column, type_text, cell)
                        yield Cell(
                            f"#{entry['stmt']} {entry['table']}.{name}",
                            column,
                            type_text,
                            value,
                            text,
                        )


def column_of(name: str, facts: dict[str, Any]) -> Column:
    """Make the column that the table map would describe."""
    type_text, charset = facts["type"], facts["charset"]
    word, _, rest = type_text.partition("(")
    word = word.split(" ")[0]
    numbers = (
        [int(number) for number in re.findall(r"\d+", rest)] if word not in ("enum", "set") else []
    )
    length, scale = (*numbers, 0, 0)[:2]
    unsigned = " unsigned" in type_text
    if word.endswith(("blob", "text")):
        return Column(
            name,
            ColumnType.BLOB,
            nullable=True,
            length=_BLOB_LENGTH_BYTES[word[:-4]],
            charset=charset or "binary",
        )
    if word.replace("geometrycollection", "geomcollection") in _GEOMETRY_TYPES:
        number = _GEOMETRY_TYPES.index(word.replace("geometrycollection", "geomcollection"))
        return Column(name, ColumnType.GEOMETRY, nullable=True, length=4, geometry_type=number)
    labels = (
        tuple(label.replace("''", "'") for label in re.findall(r"'((?:[^']|'')*)'", rest))
        if word in ("enum", "set")
        else ()
    )
    if word in ("char", "varchar"):
        length *= _BYTES_OF_CHARACTERS.get(charset, 1)
    if word in ("binary", "varbinary"):
        charset = "binary"
    return Column(
        name,
        _TYPES[word],
        nullable=True,
        length=length,
        scale=scale,
        unsigned=unsigned,
        charset=charset,
        labels=labels,
    )


def _value(column: Column, type_text: str, cell: dict[str, Any]) -> tuple[Value, str]:
    text = cell["text"]
    match column.type:
        case ColumnType.ENUM:
            return int(cell["num"]), text
        case ColumnType.SET:
            # The server's number of a mask is a double, too short for 64 members.
            return sum(1 << column.labels.index(label) for label in text.split(",") if label), text
        case ColumnType.FLOAT | ColumnType.DOUBLE:
            return float(text) if text == "-0" else float(cell["num"]), text
        case ColumnType.JSON:
            return JsonDocument(json.loads(text)), text
        case ColumnType.GEOMETRY:
            return bytes.fromhex(cell["hex"]), b64encode(bytes.fromhex(cell["hex"])).decode()
        case ColumnType.YEAR | ColumnType.BIT:
            return int(text), text
    if column.type in (ColumnType.BLOB, ColumnType.VARCHAR, ColumnType.STRING):
        raw = bytes.fromhex(cell["hex"])
        logged = (
            raw.rstrip(b"\0")
            if column.type == ColumnType.STRING and column.charset == "binary"
            else raw
        )
        return logged, b64encode(raw).decode() if column.charset == "binary" else text
    return _number_or_text(column, type_text, text)


def _number_or_text(column: Column, type_text: str, text: str) -> tuple[Value, str]:
    if column.type == ColumnType.NEWDECIMAL:
        plain = text.lstrip("0") if "zerofill" in type_text else text
        plain = f"0{plain}" if plain.startswith(".") or not plain else plain
        return plain, text
    if column.type in (
        ColumnType.DATE,
        ColumnType.TIME2,
        ColumnType.DATETIME2,
        ColumnType.TIMESTAMP2,
    ):
        return text, text
    return int(text), text
