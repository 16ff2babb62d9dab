"""What Canal said of real statements: type, names, and the types of columns as DDL declared
them.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from relay.model.change import Statement
from relay.model.positions.position import BinlogPosition
from relay.model.table import Column, ColumnType, TableId, TableMap
from relay.schema import DeclaredTypes, classify

GOLDEN = Path(__file__).parents[2] / "golden"


def _messages(server: str) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for line in (GOLDEN / f"canal_messages.{server}.jsonl").read_bytes().splitlines()
    ]


def _statement(message: dict[str, Any]) -> Statement:
    return Statement(message["sql"], message["database"], 0, BinlogPosition("b", 4))


@pytest.mark.parametrize("server", ["mysql", "mariadb"])
def test_statements_are_called_as_canal_calls_them(server: str) -> None:
    ddl = [message for message in _messages(server) if message["isDdl"]]
    assert len(ddl) > 30
    for message in ddl:
        found = classify(_statement(message))
        assert (found.kind.value, found.is_ddl, found.database, found.table) == (
            message["type"],
            True,
            message["database"],
            message["table"],
        ), message["sql"]


@pytest.mark.parametrize("server", ["mysql", "mariadb"])
def test_every_column_type_is_printed_as_canal_prints_it(server: str) -> None:
    declared, checked = DeclaredTypes(), 0
    columns: dict[TableId, list[str]] = {}
    for message in _messages(server):
        table = TableId(message["database"], message["table"])
        if message["isDdl"]:
            declared.apply(_statement(message), classify(_statement(message)))
            columns.pop(table, None)
        elif message["mysqlType"]:
            # Row images without some columns come after full ones of the same table, so the longest
            # list is the table's.
            names = max(columns.get(table, []), list(message["mysqlType"]), key=len)
            columns[table] = names
            texts = declared.texts(
                TableMap(table, tuple(Column(name, ColumnType.LONG, True) for name in names))
            )
            if texts is None:
                # Row images that lack columns leave nothing to learn the whole list from.
                assert len(message["mysqlType"]) < 4
                continue
            known = dict(zip(names, texts, strict=True))
            assert {name: known[name] for name in message["mysqlType"]} == message["mysqlType"]
            checked += 1
    assert checked > 200
