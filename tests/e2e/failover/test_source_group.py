"""Several sources become one ordered stream: nothing lost, nothing twice, whatever their files are
called and whoever dies.
"""

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import pytest
import tomli_w

from deploy.embedded import Kafka, MariaDB, MySQL, SqlServer
from relay.order import decompose
from tests.e2e.conftest import NewInstallation
from tests.servers.running import running
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.relays.scraping import scrape
from tests.support.sources.group_rows import (
    assert_one_order,
    ids,
    insert,
    member,
    seen,
    table_on,
    writing,
)
from tests.support.waiting import wait_until

ROUNDS: Final = 20
FAR: Final = 1_000_000
SOME_TIME_S: Final = 1_700_000_000

Pair: TypeAlias = tuple[MariaDB, MariaDB]


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    """Two servers of the tests' own: the binlog of one has file 7, that of the other file 900 and
    no names of columns.
    """
    with running(MariaDB()) as one, running(MariaDB({"binlog_row_metadata": "NO_LOG"})) as other:
        one.execute("reset master to 7")
        other.execute("reset master to 900")
        yield one, other


def prepare(server: SqlServer, name: str, number: int) -> None:
    """Prepare a row in an XA transaction that has one name on all servers."""
    row = f"insert into {name}.t (id, n) values ({number}, 1)"
    server.execute(f"xa start '{name}'", row, f"xa end '{name}'", f"xa prepare '{name}'")


def change(installation: Installation, **group: Any) -> None:
    """Other settings of the group, for the relay that starts next."""
    installation.document["instances"][0].setdefault("group", {}).update(group)
    write(installation)


def add_instance(installation: Installation, name: str, **settings: Any) -> None:
    """Another instance in the same relay, on tables of this name."""
    first = installation.document["instances"][0]
    source = {**first["source"], "server_id": first["source"]["server_id"] + 1}
    own = {"name": name, "source": source, "filter": {"filter_regex": f"{name}\\..*"}}
    installation.document["instances"].append({**first, **settings, **own})
    write(installation)


def write(installation: Installation) -> None:
    installation.file.write_text(tomli_w.dumps(installation.document), encoding="utf-8")


def test_a_single_source_becomes_a_group_of_both_families_through_kills(
    mariadb: MariaDB, mysql_9: MySQL, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka, message={"headers": "full"})
    name = installation.name
    table_on(mysql_9, name)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        insert(mariadb, name, 0)
        wait_until(lambda: ids(kafka, name) == [0], "a row of a single source")
        relay.kill()
        insert(mariadb, name, 1)
        change(installation, sources=[member("second", mysql_9)])
        relay.start()
        relay.wait_for("RUNNING")
        relay.kill()  # where the second one begins is known nonetheless
        insert(mysql_9, name, FAR)
        relay.start()
        with writing((mariadb, name, 2), (mysql_9, name, FAR + 1)) as written:
            relay.wait_for("RUNNING")
            wait_until(lambda: len(ids(kafka, name)) > 100, "some rows of the load")
            relay.kill()
            relay.start()
            relay.wait_for("RUNNING")
        expected = sorted([0, 1, FAR, *written])
        wait_until(lambda: len(ids(kafka, name)) >= len(expected), "the rest of both")
        wait_until(lambda: relay.wait_for("RUNNING").lag_seconds == 0, "that nothing is left")
        assert set(relay.wait_for("RUNNING").sources) == {"first", "second"}
    found = ids(kafka, name)
    assert [each for each in found if each < FAR] == [each for each in expected if each < FAR]
    assert [each for each in found if each >= FAR] == [each for each in expected if each >= FAR]
    assert_one_order(seen(kafka, name))
    assert {each.shard for each in seen(kafka, name)} == {
        f"shop/{name}.t",
        f"shop/first/{name}.t",
        f"shop/second/{name}.t",
    }


def test_a_backlog_is_published_in_the_order_of_its_times(
    pair: Pair, kafka: Kafka, new_installation: NewInstallation
) -> None:
    one, other = pair
    group = {"sources": [member("second", other)]}
    installation = new_installation(one, kafka, group=group, start={"at": "oldest"})
    by_time = installation.name
    by_column = f"{by_time}_c"
    table_on(other, by_time)
    for server in pair:
        server.execute(
            f"create database {by_column}",
            f"create table {by_column}.t (id int primary key, rank_ms bigint)",
        )
    add_instance(installation, by_column, group={**group, "merge_by": "column:rank_ms"})
    installation.map(
        topics=[{"logicDb": each, "topic": each} for each in (by_time, by_column)],
        dbs=[{"logicDb": each, "realDbs": each} for each in (by_time, by_column)],
    )
    one.execute("reset master to 7")
    other.execute("reset master to 900")
    rows = [
        (second, number, number // 4, (1 + 2 * second) * number)
        for number in range(2 * ROUNDS)
        for second in (number % 2,)
    ]
    for at, server in enumerate(pair):
        own = [row for row in rows if row[0] == at]
        dated = [
            (
                f"set timestamp = {SOME_TIME_S + row[2]};insert into {by_time}.t (id, n) values "
                f"({row[1]}, 1)"
            )
            for row in own
        ]
        ranked = [
            f"insert into {by_column}.t values ({row[1]}, {1000 * SOME_TIME_S + 10**9 + row[3]})"
            for row in own
        ]
        server.execute(*";".join(dated).split(";"), *ranked)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        wait_until(lambda: len(ids(kafka, by_time)) == len(rows), "the backlog of both")
        wait_until(lambda: len(ids(kafka, by_column)) == len(rows), "the backlog of both")
    assert ids(kafka, by_time) == [row[1] for row in sorted(rows, key=lambda row: (row[2], row[0]))]
    assert ids(kafka, by_column) == [
        row[1] for row in sorted(rows, key=lambda row: (row[3], row[0]))
    ]
    assert_one_order(seen(kafka, by_column))
    messages = seen(kafka, by_time)
    assert_one_order(messages)
    numbers = [decompose(int(each.order.split(".")[1])).file_number for each in messages]
    assert numbers == sorted(numbers)
    assert set(numbers) == {7, 900}


def test_a_source_at_rest_and_one_that_dies(
    pair: Pair, kafka: Kafka, new_installation: NewInstallation
) -> None:
    one, other = pair
    installation = new_installation(one, kafka, group={"sources": [member("second", other)]})
    name = installation.name
    table_on(other, name)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        insert(one, name, 1)
        wait_until(lambda: ids(kafka, name) == [1], "a row that no row of the other follows")
        insert(other, name, 1001)
        wait_until(lambda: ids(kafka, name) == [1, 1001], "a row of each")
        prepare(one, name, 2)
        prepare(other, name, 1002)
        insert(one, name, 3)
        wait_until(lambda: ids(kafka, name) == [1, 1001, 3], "the row behind")
        other.stop()
        assert relay.wait_for("WAITING", "SOURCE_UNREACHABLE").reason.startswith("Source second: ")
        insert(one, name, 4)
        relay.stop()
        assert ids(kafka, name) == [1, 1001, 3], "nothing of the others while one is dead"
        change(installation, when_source_dies="pass")
        relay.start()
        assert (
            relay.wait_for("RUNNING").held_back
            == "Source second is not read at present: SOURCE_UNREACHABLE."
        )
        one.execute(f"xa commit '{name}'")
        wait_until(lambda: ids(kafka, name) == [1, 1001, 3, 4, 2], "the rows of the one that lives")
        wait_until(lambda: scrape(relay).get("roma_sources_passed_over") == 1, "the gauge")
        assert "source_passed_over" in relay.log.read_text()
        other.start()
        other.execute(f"xa commit '{name}'", f"alter table {name}.t add first_of_all int first")
        insert(other, name, 1003)
        wait_until(
            lambda: ids(kafka, name) == [1, 1001, 3, 4, 2, 1002, 1003],
            "the rows of the one that is back",
        )
        wait_until(lambda: relay.wait_for("RUNNING").held_back == "", "that none is passed over")
        other.stop()  # now while it runs
        wait_until(
            lambda: relay.wait_for("RUNNING").passed_over == 1, "that it is passed over again"
        )
        insert(one, name, 5)
        wait_until(lambda: ids(kafka, name)[-1] == 5, "a row of the one that lives")
        other.start()
        wait_until(lambda: relay.wait_for("RUNNING").passed_over == 0, "that it is back")
    assert len(ids(kafka, name)) == 8
    assert_one_order(seen(kafka, name))
