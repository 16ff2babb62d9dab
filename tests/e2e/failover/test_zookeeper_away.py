"""An outage of ZooKeeper is not an outage of the stream.

A wiped one costs no row, because positions stand in Kafka.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

from deploy.embedded import Kafka, MariaDB, ZooKeeper
from relay.errors import StoreUnreachable
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.relays.scraping import scrape
from tests.support.rows.topic_reading import read_topic
from tests.support.sources.counting_load import (
    CountingLoad,
    assert_exactly_once,
    binlog_end,
    published_end,
)
from tests.support.waiting import wait_until


def test_zookeeper_leaves_comes_back_and_forgets_and_nothing_is_lost_or_repeated(
    mariadb: MariaDB,
    kafka: Kafka,
    new_zookeeper: Callable[..., ZooKeeper],
    fresh_name: Callable[[str], str],
    tmp_path: Path,
) -> None:
    zookeeper = new_zookeeper(tick_ms=500)
    name = fresh_name("away")
    mariadb.execute(
        f"create database {name}", f"create table {name}.t (id int primary key, n int, v longtext)"
    )
    installation = Installation(
        name,
        tmp_path,
        mariadb,
        kafka,
        zookeeper,
        filter={"filter_regex": f"{name}\\..*"},
    )
    map_all(installation)
    with RelayProcess(installation, "first") as first:
        first.wait_for("RUNNING")
        with RelayProcess(installation, "second") as second, CountingLoad(mariadb, name) as load:
            wait_until(lambda: len(installation.membership.members()) == 2, "the second relay")
            more_rows(first)

            zookeeper.kill()
            more_rows(first)
            first.kill()
            zookeeper.start()
            wait_until(lambda: answers(installation), "ZooKeeper again")
            second.wait_for("RUNNING")
            more_rows(second)

            zookeeper.kill()
            shutil.rmtree(zookeeper.folder / "data")
            zookeeper.start()
            wait_until(lambda: answers(installation), "an empty ZooKeeper")
            second.wait_for("WAITING", "MAPPING_LOST")
            map_all(installation)
            second.wait_for("RUNNING")
            load.end()
            wait_until(lambda: published_end(installation) == binlog_end(mariadb), "the end")
    assert_exactly_once(read_topic(kafka.bootstrap, name), load, mariadb, name)
    installation.close()


def map_all(installation: Installation) -> None:
    name = installation.name
    installation.map(
        topics=[{"logicDb": name, "topic": name}], dbs=[{"logicDb": name, "realDbs": name}]
    )


def answers(installation: Installation) -> bool:
    """Whether this test's own session reaches ZooKeeper."""
    try:
        installation.status()
    except StoreUnreachable:
        return False
    return True


def more_rows(relay: RelayProcess) -> None:
    """Wait until the relay has published more than it has now.

    It says so itself, whether or not ZooKeeper is there.
    """
    before = published_rows(relay)
    wait_until(lambda: published_rows(relay) > before + 100, "rows flow")


def published_rows(relay: RelayProcess) -> float:
    return scrape(relay).get("roma_published_rows_total", 0.0)
