"""A place that an operator names is the beginning of a transaction, on every server, or it is
refused. The rows between two places are counted.
"""

import pytest

from deploy.embedded import SqlServer
from relay.errors import ConfigurationError
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import BinlogPosition
from relay.model.table import TableId
from relay.operations.positions.rows_between import rows_between
from relay.source import transaction_position
from tests.servers.fixtures import EVERY_SERVER, FreshName
from tests.support.sources.source_reading import ask, end_of, source_settings


@EVERY_SERVER
def test_only_the_beginning_of_a_transaction_is_a_place(
    database: SqlServer, fresh_name: FreshName
) -> None:
    name = fresh_name("place")
    database.execute(f"create database {name}", f"create table {name}.t (id int primary key)")
    settings = source_settings(database)
    before = end_of(database)
    database.execute(f"insert into {name}.t values (1)")
    after = end_of(database)
    here, there = transaction_position(settings, before), transaction_position(settings, after)
    assert there.bytes_from(before) == after.offset - before.offset
    assert here.bytes_from(after) == before.offset - after.offset
    assert here.bytes_from(BinlogPosition("gone.000001", 4)) is None
    one, other = (GtidSet.parse(each.position.gtid_set) for each in (here, there))
    assert not other.without(one).empty
    assert other.covers(one)
    events = ask(database, f"show binlog events in '{before.file}' from {before.offset}")
    inside = [int(row[1]) for row in events if before.offset < int(row[1]) < after.offset]
    assert len(inside) >= 3
    for offset in inside:
        with pytest.raises(ConfigurationError):
            transaction_position(settings, BinlogPosition(before.file, offset))
    assert (
        transaction_position(settings, BinlogPosition(before.file, 4)).position.binlog.offset == 4
    )


@EVERY_SERVER
def test_rows_of_published_tables_are_counted_by_logical_table(
    database: SqlServer, fresh_name: FreshName
) -> None:
    name = fresh_name("between")
    tables = ("a_1", "a_2", "b", "unmapped")
    database.execute(f"create database {name}", f"create table {name}.b (id int primary key)")
    database.execute(
        *(f"create table {name}.{each} like {name}.b" for each in tables if each != "b")
    )
    settings, start = source_settings(database), end_of(database)
    database.execute(*(f"insert into {name}.{each} values (1), (2)" for each in tables))
    database.execute("flush binary logs", f"update {name}.a_1 set id = id + 10")
    end = end_of(database)
    database.execute(f"delete from {name}.b")

    def logical(real: TableId) -> TableId | None:
        return None if real.table == "unmapped" else TableId("shop", real.table[0])

    found = rows_between(settings, start, end, logical)
    assert (found.tables, found.is_whole) == ({"shop.a": 6, "shop.b": 2}, True)
    nothing = rows_between(settings, end, end, logical)
    assert (nothing.tables, nothing.is_whole) == ({}, True)
    gone = rows_between(settings, BinlogPosition("gone.000001", 4), end, logical)
    assert (gone.tables, gone.is_whole) == ({}, False)
