"""What a program with embedded changes gets, and what it is refused."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from deploy.embedded import SqlServer
from relay import embedded
from relay.errors import (
    ConfigurationError,
    PositionNewer,
    PositionUnreadable,
    RowImageIncomplete,
    SourceUnreachable,
)
from roma_client import Change
from tests.integration.embedded.conftest import Shop
from tests.support.sources.source_reading import ask
from tests.support.waiting import wait_until

_DUMPS = "select id from information_schema.processlist where command like 'Binlog Dump%'"


@contextmanager
def _opened(shop: Shop, **more: Any) -> Iterator[embedded.EmbeddedChanges]:
    options = {"tables": shop.tables, **shop.options, **more}
    with embedded.open(shop.source, **options) as changes:
        yield changes


def _next(changes: embedded.EmbeddedChanges, count: int) -> list[Change]:
    return list(islice(changes, count))


def _ids(changes: list[Change]) -> list[int]:
    return [change.row["id"] for change in changes]


def test_shards_have_logical_names_and_tags_and_a_new_mapping_is_used_from_the_next_start_on(
    shop: Shop,
) -> None:
    shop.execute("create table t_1 (id int primary key, v varchar(40), n int)")

    def mapping(logical: str) -> dict[str, str]:
        return {
            "com.pajk.Roma.dbs": json.dumps([{"logicDb": "shop", "realDbs": shop.name}]),
            "com.pajk.Roma.tbs": json.dumps([{"logicTb": logical, "realTbs": "t,t_1"}]),
            "com.pajk.Roma.topics": json.dumps([{"logicDb": "shop", "topic": "one,two"}]),
            "com.pajk.Roma.tags": json.dumps([{"logicTb": f"{logical},n", "tag": "all,number"}]),
        }

    tables = [rf"/{shop.name}\.t.*/"]
    shop.execute("insert into t values (1, 'a', 1)", "insert into t_1 values (2, 'b', 2)")
    with _opened(shop, tables=tables, mapping=mapping("orders")) as changes:
        first = _next(changes, 2)
        changes.ack()
    shop.execute("update t set v = 'c'", "update t_1 set n = 3")
    with _opened(shop, tables=tables, mapping=mapping("bills")) as changes:
        second = _next(changes, 2)
    names = [(each.database, each.table, each.real) for each in (*first, *second)]
    reals = [f"{shop.name}.t", f"{shop.name}.t_1"] * 2
    logical = ["orders", "orders", "bills", "bills"]
    assert names == [("shop", name, real) for name, real in zip(logical, reals, strict=True)]
    assert [each.tags for each in second] == [("all",), ("all", "number")]


@pytest.mark.parametrize("names", ["table_map", "history"])
def test_a_prepared_transaction_is_given_after_a_restart_between_prepare_and_commit(
    shop: Shop, names: str
) -> None:
    if names == "history":
        shop = shop._replace(source=shop.source.model_copy(update={"names": "history"}))
    shop.execute("insert into t values (1, 'before', 1)")
    with _opened(shop) as changes:
        assert _ids(_next(changes, 1)) == [1]
        changes.ack()
        shop.execute(
            "alter table t add column extra int first",
            f"xa start '{shop.name}'",
            "insert into t values (0, 2, 'prepared', 2), (0, 3, 'prepared', 3)",
            f"xa end '{shop.name}'",
            f"xa prepare '{shop.name}'",
        )
        shop.execute("insert into t values (0, 4, 'after', 4)")
        assert _ids(_next(changes, 1)) == [4]
        changes.ack()
    shop.execute(f"xa commit '{shop.name}'")
    with _opened(shop) as changes:
        given = _next(changes, 2)
    assert [(each.row["id"], each.row["v"]) for each in given] == [(2, "prepared"), (3, "prepared")]


def test_a_large_transaction_comes_in_parts_that_can_be_acknowledged(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relay.embedded.settings._PART_BYTES", 20_000)
    rows = [f"({key}, '{'x' * 40}', 0)" for key in range(1500)]
    shop.execute(
        "begin",
        "insert into t values (2000, 'kept', 0)",
        "savepoint one",
        "insert into t values (2001, 'rolled back', 0)",
        "rollback to one",
        *(f"insert into t values {','.join(rows[at : at + 50])}" for at in range(0, 1500, 50)),
        "commit",
    )
    given: list[int] = []
    for count in (1, 700, 1, 799):
        with _opened(shop) as changes:
            given += _ids(_next(changes, count))
            changes.ack()
    assert given == [2000, *range(1500)]


def test_a_broken_connection_repeats_nothing_that_was_given(shop: Shop) -> None:
    shop.execute("insert into t values (1, 'a', 1), (2, 'b', 2)")
    before = {row[0] for row in ask(shop.server, _DUMPS)}
    with _opened(shop) as changes:
        given = _ids(_next(changes, 1))
        own = {row[0] for row in ask(shop.server, _DUMPS)} - before
        shop.execute(*(f"kill {each}" for each in own))
        shop.execute("insert into t values (3, 'c', 3)")
        assert given + _ids(_next(changes, 2)) == [1, 2, 3]
    assert own, "no connection of the program was found"


def test_batches_before_a_change_that_stops_a_relay_are_given_first(shop: Shop) -> None:
    """The ALTER ends a batch, and the update that cannot be read was read together with it."""
    shop.execute("insert into t values (1, 'a', 1)")
    with _opened(shop) as changes:
        assert _ids(_next(changes, 1)) == [1]
        changes.ack()
    shop.execute(
        "insert into t values (2, 'b', 2)",
        "alter table t comment 'second'",
        "set session binlog_row_image = minimal",
        "update t set v = 'c' where id = 2",
    )
    for _ in range(2):
        with _opened(shop, ddl=True) as changes:
            given = _next(changes, 2)
            assert [str(each.operation) for each in given] == ["INSERT", "STATEMENT"]
            with pytest.raises(RowImageIncomplete):
                _next(changes, 1)


def test_close_ends_the_iteration_and_an_idle_source_gives_nothing(shop: Shop) -> None:
    with _opened(shop) as changes:
        assert changes.take(1, 0.2) == []
        Timer(0.2, changes.close).start()
        assert list(changes) == []


def test_one_position_has_one_program(shop: Shop) -> None:
    with (
        _opened(shop),
        pytest.raises(ConfigurationError, match="Another program uses the position"),
        _opened(shop),
    ):
        pass
    with _opened(shop):
        pass


def test_the_position_stays_where_it_was_if_the_callback_fails(shop: Shop) -> None:
    saved: list[bytes] = []

    def save(position: bytes) -> None:
        if len(saved) == 2:
            raise OSError("the disk is full")
        saved.append(position)

    store = embedded.PositionCallbacks(lambda: saved[-1] if saved else None, save)
    shop.execute("insert into t values (1, 'a', 1), (2, 'b', 2)")
    with _opened(shop, position=store) as changes:
        assert _ids(_next(changes, 1)) == [1]
        changes.ack()
        assert _ids(_next(changes, 1)) == [2]
        with pytest.raises(OSError, match="the disk is full"):
            changes.ack()
    with _opened(shop, position=store) as changes:
        assert _ids(_next(changes, 1)) == [2]


def test_a_source_that_does_not_answer_is_named_after_the_time_that_was_given(
    shop: Shop, tmp_path: Path
) -> None:
    nobody = shop.source.model_copy(update={"port": 1})
    position = tmp_path / "other"
    with (
        embedded.open(nobody, shop.tables, position=position, unreachable_seconds=0.5) as changes,
        pytest.raises(SourceUnreachable),
    ):
        wait_until(lambda: changes.take(1, 0.1) != [], "a server that is not there")


@pytest.mark.parametrize(
    ("position", "error"),
    [
        (b"{}", PositionUnreadable),
        (b"no JSON", PositionUnreadable),
        (b'{"format": 2}', PositionNewer),
        (b'{"format": 1, "done": 0, "kept": {}, "record": {"format": 99}}', PositionNewer),
    ],
)
def test_a_position_that_cannot_be_read_is_refused(
    shop: Shop, tmp_path: Path, position: bytes, error: type[Exception]
) -> None:
    (tmp_path / "position").write_bytes(position)
    for _ in range(2):  # the lock is free again
        with pytest.raises(error), _opened(shop):
            pass


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"tables": ["orders"]}, "not of the form database.table"),
        ({"tables": []}, "tables"),
        ({"snapshot": "initial"}, "snapshot"),
        ({"mapping": {"com.pajk.Roma.dbs": "no JSON"}}, "com.pajk.Roma.dbs"),
    ],
)
def test_settings_that_cannot_be_followed_are_refused(
    shop: Shop, wrong: dict[str, Any], told: str
) -> None:
    with pytest.raises(ConfigurationError, match=told), _opened(shop, **wrong) as changes:
        changes.take(1, 0.1)


def test_the_database_server_has_no_thread_of_a_program_that_ended(
    shop: Shop, make_shop: Callable[[SqlServer], Shop]
) -> None:
    before = len(ask(shop.server, _DUMPS))
    with _opened(shop) as changes:
        changes.take(1, 0.1)
        assert len(ask(shop.server, _DUMPS)) == before + 1
    wait_until(lambda: len(ask(shop.server, _DUMPS)) == before, "the end of the dump")
