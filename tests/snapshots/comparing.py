"""What is wrong with the last message of each key, beside the rows of the source."""

import json
from typing import Any

from deploy.embedded import Kafka, SqlServer
from tests.support.relays.relay_process import Installation
from tests.support.rows.topic_reading import Seen, read_topic, topic_answers

_KEYS = {"k": ("id",), "u": ("a", "b")}
_EMPTIED = ("TRUNCATE", "RENAME")
Last = dict[bytes, tuple[str, dict[str, Any] | None]]


def differences(
    installation: Installation, database: SqlServer, kafka: Kafka, schema: str
) -> list[str]:
    """Return what is wrong with the last message of each key, by order in the partition.

    Messages of a key from before a TRUNCATE of `k`, or before a new table of this name, are
    ignored.
    """
    name = installation.name
    last, wrong = _last(read_topic(kafka.bootstrap, name, seconds=60))
    emptied = _emptied(kafka, name)
    for table, names in _KEYS.items():
        held = _held(database, schema, name, table, names)
        begins = f'["{name}.{table}",'.encode()
        shown = {
            key: row
            for key, (order, row) in last.items()
            if key.startswith(begins) and row and (table != "k" or order > emptied)
        }
        wrong += [f"{key!r} is not in the topic" for key in held.keys() - shown.keys()]
        wrong += [f"{key!r} is not in the table" for key in shown.keys() - held.keys()]
        wrong += [
            f"{key!r}: {shown[key]} is published, and {held[key]} is the row"
            for key in held.keys() & shown.keys()
            if not shown[key].items() <= held[key].items()
        ]
    return wrong


def _last(seen: list[Seen]) -> tuple[Last, list[str]]:
    last: Last = {}
    wrong = []
    for each in seen:
        if each.value is None or each.key is None or each.key.endswith(b',"-1"]'):
            continue
        row = None if each.value["type"] == "DELETE" else each.value["data"][0]
        before = last.get(each.key)
        if before is not None and before[0] >= each.order:
            wrong.append(f"{each.key!r} goes back from {before[0]} to {each.order}")
        last[each.key] = each.order, row
    return last, wrong


def _emptied(kafka: Kafka, name: str) -> str:
    """Return the order key of the last statement that ended what was said of `k`, "" of none."""
    topic = f"{name}.ddl"
    if not topic_answers(kafka.bootstrap, topic):
        return ""
    return max(
        (
            each.order
            for each in read_topic(kafka.bootstrap, topic)
            if (each.value or {}).get("type") in _EMPTIED
        ),
        default="",
    )


def _held(
    database: SqlServer, schema: str, logical: str, table: str, names: tuple[str, ...]
) -> dict[bytes, dict[str, Any]]:
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"select * from {schema}.{table}")
        columns = [each[0] for each in cursor.description or ()]
        rows = [dict(zip(columns, map(_text, row), strict=True)) for row in cursor.fetchall()]
    return {
        json.dumps(
            [f"{logical}.{table}", *(row[name] for name in names)],
            ensure_ascii=False,
            separators=(",", ":"),
        ).encode(): row
        for row in rows
        if row.get("id") != "-1"
    }


def _text(value: object) -> str | None:
    return None if value is None else str(value)
