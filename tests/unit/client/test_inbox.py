"""An inbox in SQLite: kills, errors, repeats, and positions that cannot be."""

import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roma_client import Change, Order
from roma_client.errors import InboxAhead, UsageError
from roma_client.inbox import Inbox, Key
from roma_client.records.change import NO_ORDER
from roma_client.records.pending import Moment, PendingTransaction, Rows, loose_rows
from roma_client.records.transaction import Transaction, transaction_id
from tests.support.clients.inbox_process import CHANGES, made_changes, survived
from tests.support.clients.transaction_history import ROWS, TIME, made_change, report


def opened(file: Path | str = ":memory:") -> sqlite3.Connection:
    connection = sqlite3.connect(file)
    connection.execute("create table counted (n int)")
    connection.execute("insert into counted values (0)")
    connection.execute("create table applied (at int primary key, id int)")
    connection.commit()
    return connection


def count(cursor: Any, _: object) -> None:
    cursor.execute("update counted set n = n + 1")


def counted(connection: sqlite3.Connection) -> int:
    return int(connection.execute("select n from counted").fetchone()[0])


def test_counts_are_exact_after_kills_in_the_effect_and_after_the_commit(tmp_path: Path) -> None:
    connection = opened(tmp_path / "service.db")
    survived("sqlite3", {"database": str(tmp_path / "service.db")}, "partition")
    assert counted(connection) == CHANGES
    assert connection.execute("select count(*) from applied").fetchone() == (CHANGES,)


@given(
    st.lists(st.tuples(st.integers(0, 8), st.booleans()), max_size=20),
    st.sampled_from(get_args(Key)),
)
def test_redelivered_changes_are_applied_once_and_failed_ones_again(
    steps: list[tuple[int, bool]], by: Key
) -> None:
    """Each step delivers the changes from some offset on, and may fail at its last one."""
    connection = opened()
    inbox, changes, applied = Inbox(connection, "billing", by=by), made_changes(9), 0

    def fail(cursor: Any, change: Change) -> None:
        count(cursor, change)
        raise OSError("the effect failed")

    for start, fails in steps:
        for at in range(min(start, applied), applied):
            assert not inbox.apply(changes[at], count)
        if applied == len(changes):
            break
        if fails:
            with pytest.raises(OSError, match="the effect failed"):
                inbox.apply(changes[applied], fail)
        assert inbox.apply(changes[applied], count)
        applied += 1
    assert counted(connection) == applied


def test_rows_of_one_record_and_of_other_partitions_have_positions_of_their_own() -> None:
    connection = opened()
    inbox = Inbox(connection, "billing")
    (change,) = made_changes(1)
    packed = replace(change, order=Order(change.order.execute_time, change.order[1] + 1))
    elsewhere = replace(change, place=change.place._replace(partition=1))
    for each in (change, packed, elsewhere):
        assert inbox.apply(each, count)
        assert not inbox.apply(each, count)
    assert Inbox(connection, "search").apply(change, count)


def test_a_topic_that_was_made_again_is_named_and_not_skipped() -> None:
    inbox = Inbox(opened(), "billing")
    first, *_, last = made_changes(5)
    assert inbox.apply(last, count)
    new = replace(first, order=Order(last.order.execute_time + 1, 1))
    with pytest.raises(InboxAhead, match=r"has already applied shop/0 beyond 0"):
        inbox.apply(new, count)
    by_row = Inbox(opened(), "billing", by="row")
    assert by_row.apply(last, count)
    assert by_row.apply(replace(new, key=last.key), count)


def test_a_transaction_is_applied_once_as_a_whole() -> None:
    connection = opened()
    inbox = Inbox(connection, "ledger")
    found = []
    for before in (100, 200):
        id_ = transaction_id(f"shop:0-1-7:{before}")
        pending = PendingTransaction(
            id_, Moment(TIME, before), begin=report(id_.text), end=report(id_.text, {"shop.a": 1})
        )
        change = made_change("shop.a", before + 1)
        pending.add(Rows(ROWS[0], id_, [change], 1, None, TIME))  # type: ignore[arg-type]
        transaction = pending.ready().transaction
        assert transaction is not None
        found.append(transaction)
    assert [inbox.apply(each, count) for each in (*found, *found)] == [True, True, False, False]
    assert counted(connection) == 2


def test_rows_of_no_transaction_that_came_together_have_each_their_own_position() -> None:
    """Such as copied rows in one message: one of them may have had a newer change already."""
    connection = opened()
    inbox = Inbox(connection, "billing", by="row")
    first, second, last = made_changes(3)
    newer = replace(last, order=Order(last.order.execute_time + 1, 9))
    assert inbox.apply(newer, count)
    rows = Rows(ROWS[0], None, [first, second, last], 1, None, TIME)  # type: ignore[arg-type]
    transaction = loose_rows(rows, "shop").transaction
    assert transaction is not None
    given: list[Transaction] = []

    def effect(_cursor: Any, item: Transaction) -> None:
        given.append(item)

    assert [inbox.apply(transaction, effect) for _ in range(2)] == [True, False]
    assert [each.changes for each in given] == [(first, second)]
    assert given[0].counts == {"shop.orders": 2}
    assert Inbox(connection, "billing").apply(transaction, effect), "by partition, as one message"
    assert given[-1] == transaction


def test_what_an_inbox_cannot_use_is_refused() -> None:
    with pytest.raises(UsageError, match="is in autocommit mode"):
        Inbox(sqlite3.connect(":memory:", isolation_level=None), "billing")
    with pytest.raises(UsageError, match="is not a table name"):
        Inbox(opened(), "billing", table="x; drop table y")
    with pytest.raises(UsageError, match="the SQL dialect from the driver builtins"):
        Inbox(type("C", (), {"__module__": "builtins"})(), "billing")


def test_a_delete_without_an_order_counts_by_its_partition() -> None:
    """A tombstone that an older release wrote; it is newer than every order of its row."""
    inbox = Inbox(opened(), "billing", by="row")
    first, second, *_ = made_changes(2)
    assert inbox.apply(first, count)
    late = replace(second, key=first.key, order=NO_ORDER)
    assert inbox.apply(late, count)
    assert not inbox.apply(late, count)


def test_deletes_without_an_order_that_workers_apply_in_any_turn_are_all_applied() -> None:
    inbox = Inbox(opened(), "billing", by="row")
    first, second, other = (replace(each, order=NO_ORDER) for each in made_changes(3))
    row = replace(second, key=None, order=Order(1000, 7))
    for each in (other, row, first):
        assert inbox.apply(each, count)
        assert not inbox.apply(each, count)


def test_rows_without_a_key_of_two_tables_in_one_partition_have_positions_of_their_own() -> None:
    inbox = Inbox(opened(), "billing", by="row")
    first, second, *_ = (replace(each, key=None) for each in made_changes(2))
    assert inbox.apply(replace(second, table="log"), count)
    assert inbox.apply(first, count)
    assert not inbox.apply(first, count)


def test_rows_without_a_key_of_a_topic_that_was_made_again_are_named_and_not_skipped() -> None:
    inbox = Inbox(opened(), "billing", by="row")
    first, *_, last = (replace(each, key=None) for each in made_changes(5))
    assert inbox.apply(last, count)
    new = replace(first, order=Order(last.order.execute_time + 1, 1))
    with pytest.raises(InboxAhead, match=r"has already applied shop\.orders in shop/0 beyond 0"):
        inbox.apply(new, count)


def test_a_position_of_a_former_release_counts_for_rows_without_a_key() -> None:
    connection = opened()
    first, second, *_ = (replace(each, key=None) for each in made_changes(2))
    for each in (first, second):  # a former release had one position for the partition
        assert Inbox(connection, "billing").apply(each, count) is True
    by_row = Inbox(connection, "billing", by="row")
    later = replace(second, place=second.place._replace(offset=9))
    found = [by_row.apply(each, count) for each in (first, second, later, later)]
    assert found == [False, False, True, False]


def test_a_position_that_another_client_has_added_meanwhile_is_moved() -> None:
    """Both clients found no row; the one whose INSERT changed nothing applies its own change."""
    connection = opened()
    inbox = Inbox(connection, "billing")
    first, second, *_ = made_changes(2)
    execute = inbox._sql  # noqa: SLF001

    def other_adds(cursor: Any, sql: str, parameters: Any) -> int:
        if sql == execute.add:
            cursor.execute(sql, parameters)
            cursor.execute(execute.move, (0, 0, 1, 1, *parameters, 0, 0, 0))
        cursor.execute(sql, tuple(parameters))
        return int(cursor.rowcount)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("roma_client.inbox.inbox.executed", other_adds)
        assert inbox.apply(replace(second, place=second.place._replace(offset=7)), count)
    assert not inbox.apply(first, count)
