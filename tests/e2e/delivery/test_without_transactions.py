"""`delivery = "at_least_once"`: rows may come again, always under the order that they had, and
nothing is lost or overtaken.
"""

from typing import Any

from deploy.embedded import Kafka, MariaDB, SqlServer
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import Seen, read_topic
from tests.support.sources.counting_load import (
    CountingLoad,
    assert_exactly_once,
    binlog_end,
    published_end,
)
from tests.support.waiting import wait_until

CRASHING = "tests.support.faults.crashing_relay"
LOOSE: dict[str, Any] = {"transaction": {"delivery": "at_least_once", "split_bytes": 2000}}


def without_repeats(seen: list[Seen]) -> list[Seen]:
    """What a consumer keeps that drops each order that it has seen before."""
    return list({each.order: each for each in reversed(seen)}.values())[::-1]


def all_published(database: SqlServer, installation: Installation) -> None:
    end = binlog_end(database)
    wait_until(
        lambda: published_end(installation) >= end,
        f"the end of the binlog, {end}: {installation.status()}",
    )


def change_all(database: SqlServer, name: str, load: CountingLoad) -> None:
    """One transaction of many parts."""
    with database.connect(autocommit=False) as connection, connection.cursor() as cursor:
        for _ in range(20):
            load.count(cursor.execute(f"update {name}.t set n = n + 1"))
        connection.commit()


def test_crashes_between_rows_and_position_repeat_rows_under_their_orders(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka, **LOOSE)
    name = installation.name
    with RelayProcess(installation, module=CRASHING) as relay:
        relay.wait_for("RUNNING")
        with CountingLoad(mariadb, name) as load:
            wait_until(lambda: load.changes > 100, "the load")
            relay.kill()
            for commit in (2, 5):
                change_all(mariadb, name, load)
                relay.start(ROMA_CRASH=f"before_position:{commit}")
                relay.wait_for_crash()
        relay.start(ROMA_CRASH="never:0")
        relay.wait_for("RUNNING")
        all_published(mariadb, installation)
    seen = read_topic(kafka.bootstrap, name)
    assert len(seen) > load.changes
    assert_exactly_once(without_repeats(seen), load, mariadb, name)


def test_rows_of_xa_come_whole_when_the_relay_dies_before_it_notes_the_commit(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka, transaction={"delivery": "at_least_once"})
    name = installation.name
    inserts = [f"insert into {name}.t values ({number}, 1, 'xa')" for number in range(1, 6)]
    with RelayProcess(installation, module=CRASHING) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"xa start '{name}'", *inserts, f"xa end '{name}'", f"xa prepare '{name}'")
        all_published(mariadb, installation)
        relay.kill()
        mariadb.execute(f"xa commit '{name}'")
        relay.start(ROMA_CRASH="before_position:2")
        relay.wait_for_crash()
        relay.start(ROMA_CRASH="never:0")
        relay.wait_for("RUNNING")
        all_published(mariadb, installation)
    seen = without_repeats(sorted(read_topic(kafka.bootstrap, name), key=lambda each: each.order))
    assert [each.value and each.value["data"][0]["id"] for each in seen] == [
        "1",
        "2",
        "3",
        "4",
        "5",
    ]
