"""What a server itself prints of its rows, in the words of the exact style."""

from base64 import b64encode
from typing import Any, Final

from pymysql.connections import Connection

from tests.types.walked import Texts

_BYTES: Final = frozenset(
    {"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "vector"}
)
_GEOMETRIES: Final = frozenset(
    {
        "geometry",
        "point",
        "linestring",
        "polygon",
        "multipoint",
        "multilinestring",
        "multipolygon",
        "geometrycollection",
        "geomcollection",
    }
)


def server_rows(connection: "Connection[Any]", database: str, table: str) -> list[Texts]:
    """Return all rows of a table, invisible columns too: CAST AS CHAR, bytes in base64, times in
    UTC.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET time_zone = '+00:00'")
        cursor.execute(
            "SELECT column_name, data_type FROM information_schema.columns "
            "WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position",
            (database, table),
        )
        columns = [(str(name), str(kind).lower()) for name, kind in cursor.fetchall()]
        cursor.execute(
            f"SELECT {', '.join(_text(name, kind) for name, kind in columns)} FROM "
            f"`{database}`.`{table}`"
        )
        return [
            {name: _printed(cell, kind) for (name, kind), cell in zip(columns, row, strict=True)}
            for row in cursor.fetchall()
        ]


def _text(name: str, kind: str) -> str:
    quoted = "`" + name.replace("`", "``") + "`"
    if kind in _BYTES or kind in _GEOMETRIES:
        return f"HEX({quoted})"
    if kind == "bit":
        return f"CAST({quoted} + 0 AS CHAR)"
    return f"CAST({quoted} AS CHAR CHARACTER SET utf8mb4)"


def _printed(cell: str | None, kind: str) -> str | None:
    if cell is None or (kind not in _BYTES and kind not in _GEOMETRIES):
        return cell
    return b64encode(bytes.fromhex(cell)).decode("ascii")
