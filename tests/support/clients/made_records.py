"""Records as the relay publishes them, for tests of readers."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from relay.envelope import DDL_TOPIC_SUFFIX, order_text
from roma_client.records.record import Record

Row = Mapping[str, str | None]


def row_record(
    rows: Sequence[Row],
    *,
    kind: str = "INSERT",
    table: str = "orders",
    old: Sequence[Row] | None = None,
    order: tuple[int, int] = (1000, 1),
    offset: int = 0,
    key: bool = True,
    tags: Sequence[str] = ("orders",),
    types: Mapping[str, str] | None = None,
    **headers: str,
) -> Record:
    """One message of rows of `shop.<table>` with the key column `id`."""
    known = {"id": "bigint", **(types or {})}
    message: dict[str, Any] = {
        "data": rows,
        "database": "shop",
        "es": 1000,
        "gtid": "0-1-1",
        "id": 1,
        "isDdl": False,
        "mysqlType": {name: known.get(name, "varchar(20)") for row in rows for name in row},
        "old": old,
        "pkNames": ["id"],
        "sql": "",
        "sqlType": {},
        "table": table,
        "ts": 1001,
        "type": kind,
    }
    name = f'["shop.{table}","{rows[0]["id"]}"]'.encode() if key else None
    told = [("order", order_text(*order)), *(("tag", each) for each in tags), *headers.items()]
    return Record(
        "shop",
        0,
        offset,
        name,
        json.dumps(message).encode(),
        [(header, text.encode()) for header, text in told],
    )


def claimed_record(row: Row, url: str) -> tuple[Record, bytes]:
    """One message whose value is at a URL, and that value."""
    return claimed(row_record([row]), url)


def statement_record(sql: str, *, table: str = "orders", key: bytes | None = None) -> Record:
    """One message of a statement about `shop.<table>`, without tags as the relay publishes it."""
    message = json.loads(row_record([{"id": "1"}], kind="ALTER", table=table).value or b"")
    message |= dict.fromkeys(("data", "old", "mysqlType", "pkNames", "sqlType"))
    message |= {"sql": sql, "isDdl": True}
    value = json.dumps(message).encode()
    headers = [("order", order_text(1000, 1).encode())]
    return Record(f"shop{DDL_TOPIC_SUFFIX}", 0, 0, key, value, headers)


def claimed(record: Record, url: str) -> tuple[Record, bytes]:
    """A record whose value is at a URL, and that value. The record keeps the fields of any size."""
    value = record.value or b""
    claim = {"sha256": sha256(value).hexdigest(), "size": len(value), "url": url}
    left = json.loads(value) | {"data": None, "mysqlType": None, "old": None, "sql": ""}
    headers = [*record.headers, ("claim", json.dumps(claim).encode())]
    return record._replace(value=json.dumps(left).encode(), headers=headers), value
