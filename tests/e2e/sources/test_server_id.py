"""A second relay of an instance takes its server_id: the first one stands by or waits for its end,
and never stops for good.
"""

import signal
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from deploy.embedded import Kafka, MariaDB, ZooKeeper
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.sources.counting_load import (
    CountingLoad,
    assert_exactly_once,
    binlog_end,
    published_end,
)
from tests.support.waiting import wait_until


def stands_by(relay: RelayProcess) -> bool:
    """Whether the relay shows itself standing by since it ran last."""
    return "STANDBY" in relay.log.read_text().rpartition("RUNNING")[2]


def test_an_idle_leader_that_was_paused_stands_by_and_shows_no_error_of_its_own(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    with (
        RelayProcess(installation, "first") as first,
        RelayProcess(installation, "second") as second,
    ):
        wait_until(
            lambda: (found := installation.status()) is not None and found.state == "RUNNING",
            "a relay that leads",
        )
        for _ in range(2):
            found = installation.status()
            assert found is not None
            leader, other = (
                (first, second) if found.relay.endswith(f"-{first.pid}") else (second, first)
            )
            leader.signal(signal.SIGSTOP)
            try:
                other.wait_for("RUNNING")
            finally:
                leader.signal(signal.SIGCONT)
            wait_until(partial(stands_by, leader), "the paused relay standing by")
            other.wait_for("RUNNING")
        for relay in (first, second):
            assert "STOPPED" not in relay.log.read_text(), relay.log_tail()


def test_a_rival_with_another_zookeeper_is_named_and_after_its_end_the_stream_continues(
    mariadb: MariaDB,
    kafka: Kafka,
    zookeeper: ZooKeeper,
    new_zookeeper: Callable[..., ZooKeeper],
    new_installation: NewInstallation,
    tmp_path: Path,
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    (tmp_path / "rival").mkdir()
    only_this = {"filter_regex": f"{name}\\..*"}
    with closing(
        Installation(
            name, tmp_path / "rival", mariadb, kafka, new_zookeeper(tick_ms=500), filter=only_this
        )
    ) as elsewhere:
        elsewhere.map(
            topics=[{"logicDb": name, "topic": name}], dbs=[{"logicDb": name, "realDbs": name}]
        )
        with RelayProcess(installation, "first") as first:
            first.wait_for("RUNNING")
            with CountingLoad(mariadb, name) as load:
                with RelayProcess(elsewhere, "rival") as rival:
                    # The rival takes the source's dump and the producer; either loss may be noticed
                    # first.
                    wait_until(
                        lambda: "_CONTESTED" in first.log.read_text() + rival.log.read_text(),
                        "the contest told",
                    )
                    wait_until(lambda: published_end(elsewhere) > ("", 0), "rows of the rival")
                first.wait_for("RUNNING", seconds=90)
                load.end()
                end = binlog_end(mariadb)
                wait_until(
                    lambda: published_end(installation) >= end, f"the end of the binlog, {end}"
                )
        assert "STOPPED" not in first.log.read_text() + rival.log.read_text()
    assert_exactly_once(read_topic(kafka.bootstrap, name), load, mariadb, name)
