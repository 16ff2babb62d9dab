"""Changes as Canal's entries: events, columns and marks of transactions."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from canal_server.entries import entries_of
from canal_server.entries.value_types import sql_type
from canal_server.wire import EntryKind, EventKind
from canal_server.wire.schema import MESSAGES
from roma_client.records.change import Change
from roma_client.records.decoding import Reading, changes_of
from roma_client.records.record import Record
from roma_client.records.selection import Selection
from tests.support.clients.made_records import row_record

ALL = Selection(lambda _name: True, statements=True)
TEXT = Reading("text")


def changes(*records: Record) -> list[Change]:
    return [each for record in records for each in changes_of(record, ALL, TEXT)]


def read(entries: Sequence[bytes]) -> list[Any]:
    return [MESSAGES["Entry"].FromString(each) for each in entries]


def rows(entry: Any) -> Any:
    return MESSAGES["RowChange"].FromString(entry.storeValue)


def shown(columns: Any) -> list[tuple[str, str, bool, bool, bool]]:
    return [(c.name, c.value, c.isKey, c.updated, c.isNull) for c in columns]


@pytest.mark.parametrize(
    ("of_event", "kind", "text", "expected"),
    [
        (5, "TINYINT unsigned", "127", -6),
        (-6, "tinyint(3) unsigned", "128", 5),
        (4, "SMALLINT(5) UNSIGNED ZEROFILL", "32767", 5),
        (4, "INT unsigned", "2147483648", -5),
        (-5, "int unsigned", None, 4),
        (-5, "BIGINT unsigned", "9223372036854775808", 3),
        (3, "BIGINT unsigned", "9223372036854775807", -5),
        (3, "BIGINT unsigned", "no number", -5),
        (-5, "bigint", "9223372036854775807", -5),
        (12, "int unsigned", "1", 12),
        (-7, "set('a','b')", None, 2004),
        (2004, "SET('unsigned')", "1", -7),
        (12, "set('a')", "a", 12),
        (4, "enum('unsigned')", "1", 4),
        (0, "", "1", 0),
    ],
)
def test_the_sql_type_depends_on_the_value(
    of_event: int, kind: str, text: str | None, expected: int
) -> None:
    """As Canal has it, measured in tests/e2e/canal_server/test_beside_real_canal.py."""
    assert sql_type(of_event, kind, text) == expected


def statement(kind: str, *, is_ddl: bool, sql: str) -> Record:
    made = row_record([{"id": "1"}])
    message = json.loads(made.value or b"")
    message |= {"type": kind, "isDdl": is_ddl, "sql": sql, "data": None, "mysqlType": None}
    return made._replace(value=json.dumps(message).encode(), key=None)


def test_an_insert_has_its_columns_after_it_and_a_delete_before_it() -> None:
    row = {"id": "1", "name": None}
    insert, delete = read(
        entries_of(changes(row_record([row]), row_record([row], kind="DELETE")), marks=False)
    )
    assert (insert.header.eventType, delete.header.eventType) == (
        EventKind.INSERT,
        EventKind.DELETE,
    )
    columns = rows(insert).rowDatas[0]
    assert shown(columns.afterColumns) == [
        ("id", "1", True, True, False),
        ("name", "", False, True, True),
    ]
    assert not columns.beforeColumns
    columns = rows(delete).rowDatas[0]
    assert shown(columns.beforeColumns) == [
        ("id", "1", True, False, False),
        ("name", "", False, False, True),
    ]
    assert not columns.afterColumns


def test_an_update_has_both_images_and_marks_what_it_changed() -> None:
    record = row_record([{"id": "1", "a": "x", "b": "y"}], kind="UPDATE", old=[{"b": None}])
    columns = rows(read(entries_of(changes(record), marks=False))[0]).rowDatas[0]
    assert shown(columns.beforeColumns) == [
        ("id", "1", True, False, False),
        ("a", "x", False, False, False),
        ("b", "", False, False, True),
    ]
    assert [c.updated for c in columns.afterColumns] == [False, False, True]
    assert [c.index for c in columns.afterColumns] == [0, 1, 2]
    assert [c.mysqlType for c in columns.afterColumns] == ["bigint", "varchar(20)", "varchar(20)"]


def test_columns_of_a_partial_row_keep_the_index_that_they_have_in_the_table() -> None:
    record = row_record(
        [{"id": "1", "n": "2", "m": "3"}],
        kind="UPDATE",
        old=[{}],
        unknown='{"data":["a"],"old":["n"]}',
    )
    message = json.loads(record.value or b"")
    message["mysqlType"] = dict.fromkeys(["a", "id", "n", "m"], "int")
    record = record._replace(value=json.dumps(message).encode())
    columns = rows(read(entries_of(changes(record), marks=False))[0]).rowDatas[0]
    assert [(c.name, c.index) for c in columns.beforeColumns] == [("id", 1), ("m", 3)]
    assert [(c.name, c.index) for c in columns.afterColumns] == [("id", 1), ("n", 2), ("m", 3)]


def test_the_header_has_the_binlog_coordinates_if_the_topic_has_them() -> None:
    plain, full = read(
        entries_of(
            changes(row_record([{"id": "1"}]), row_record([{"id": "1"}], source="7:bin.000002:41")),
            marks=False,
        )
    )
    assert (plain.header.serverId, plain.header.logfileName) == (0, "")
    header = full.header
    assert (header.serverId, header.logfileName, header.logfileOffset) == (7, "bin.000002", 41)
    assert (header.schemaName, header.tableName) == ("shop", "orders")
    assert (header.version, header.serverenCode, header.sourceType) == (1, "UTF-8", 2)
    assert (header.executeTime, header.gtid) == (1000, "0-1-1")
    assert {p.key: p.value for p in header.props} == {"rowsCount": "1", "curtGtid": "0-1-1"}


def test_neighbours_of_one_row_event_are_one_entry() -> None:
    made = [
        row_record([{"id": str(number)}], order=(1000, number), source=source)
        for number, source in enumerate(["7:bin.1:41", "7:bin.1:41", "7:bin.1:99"])
    ]
    entries = read(entries_of(changes(*made), marks=False))
    assert [len(rows(each).rowDatas) for each in entries] == [2, 1]
    apart = [row_record([{"id": str(number)}], order=(1000, number)) for number in range(2)]
    assert len(entries_of(changes(*apart), marks=False)) == 2, "without coordinates"


def test_marks_are_around_each_transaction_and_not_around_ddl() -> None:
    made = [
        row_record([{"id": "1"}], order=(1000, 1)),
        row_record([{"id": "2"}], order=(1000, 2)),
        row_record([{"id": "3"}], order=(1001, 3)),
        statement("ALTER", is_ddl=True, sql="alter table t add c int"),
    ]
    entries = read(entries_of(changes(*made), marks=True))
    begin, row, end = EntryKind.TRANSACTION_BEGIN, EntryKind.ROW_DATA, EntryKind.TRANSACTION_END
    assert [each.entryType for each in entries] == [begin, row, row, end, begin, row, end, row]
    mark = MESSAGES["TransactionEnd"].FromString(entries[3].storeValue)
    assert mark.transactionId == "0-1-1"
    assert entries[0].header.tableName == ""


def test_a_statement_has_its_type_and_its_text() -> None:
    made = [
        statement("ALTER", is_ddl=True, sql="alter table t add c int"),
        statement("QUERY", is_ddl=False, sql="insert into t values (1)"),
        statement("A NEW TYPE", is_ddl=True, sql="create sequence s"),
    ]
    entries = read(entries_of(changes(*made), marks=True))
    assert [each.header.eventType for each in entries] == [
        EventKind.ALTER,
        EventKind.QUERY,
        EventKind.QUERY,
    ]
    assert [rows(each).isDdl for each in entries] == [True, False, True]
    assert rows(entries[0]).sql == "alter table t add c int"
    assert rows(entries[0]).ddlSchemaName == "shop"


def test_a_delete_of_which_only_the_key_is_known_has_no_entry() -> None:
    """Without a column, a client that builds SQL of the columns would delete every row."""
    lone = row_record([{"id": "1"}], kind="DELETE")._replace(value=None)
    assert entries_of(changes(lone), marks=True) == []
    assert len(entries_of(changes(lone, row_record([{"id": "2"}])), marks=False)) == 1
