"""Lag as operators see it: nought while the source has nothing more, growing while rows wait,
nought again.
"""

import math
import threading
from collections.abc import Callable, Iterator
from itertools import count
from statistics import median

from deploy.embedded import Kafka, MariaDB, SqlServer
from relay.deadline import Deadline
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.relays.scraping import scrape
from tests.support.rows.topic_reading import read_topic
from tests.support.waiting import wait_until

# MariaDB's times are whole seconds, and the relay shows its own only now and then.
ALMOST_NOTHING_SECONDS = 3
# A position that moves every 10 s alone is older than that for 7 of them: in every stretch as long
# as this one for at least 4. A busy machine may show it for a moment.
LONG_ENOUGH_SECONDS = 7
# Several heartbeats of the source, and long enough for the age of the last change to show.
AT_REST_SECONDS = 4


def lag_of(relay: RelayProcess) -> float:
    return scrape(relay)["roma_lag_seconds"]


def looks_for(seconds: float, every_seconds: float) -> Iterator[int]:
    """For looks at what must stay as it is; their numbers."""
    deadline = Deadline.after(seconds)
    for number in count():
        yield number
        if deadline.passed:
            return
        threading.Event().wait(every_seconds)


def test_an_idle_source_is_not_behind(
    database: SqlServer, kafka: Kafka, new_installation: NewInstallation
) -> None:
    """On every server, because each sends its heartbeats in its own way."""
    installation = new_installation(database, kafka)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        database.execute(
            f"insert into {installation.name}.t values (1, 1, 'a')",
            "create database if not exists filtered_away",
        )
        wait_until(lambda: len(read_topic(kafka.bootstrap, installation.name)) == 1, "the row")
        wait_until(lambda: lag_of(relay) == 0, "no lag")
        looks = [lag_of(relay) for _ in looks_for(AT_REST_SECONDS, 0.25)]
        status = installation.status()
        assert status is not None
        assert status.lag_seconds == 0
        assert set(looks) == {0}, (
            "an hour later it would be an hour, if it were the age of the last change"
        )


def test_a_busy_source_that_is_left_out_or_kept_up_with_is_not_behind(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    """Changes that a filter leaves out move the position only every 10 s.

    They are done all the same.
    """
    installation = new_installation(
        mariadb, kafka, filter={"filter_regex": r"e2e_.*\..*", "filter_black_regex": r".*\.hidden"}
    )
    name = installation.name
    mariadb.execute(f"create table {name}.hidden (id int primary key)")
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        wait_until(lambda: lag_of(relay) == 0, "no lag")
        for written in ("hidden values ({})", "t values ({}, 1, 'a')"):
            looks = list[float]()
            for number in looks_for(LONG_ENOUGH_SECONDS, 0.1):
                mariadb.execute(f"insert into {name}.{written.format(number)}")
                looks.append(lag_of(relay))
            assert median(looks) < ALMOST_NOTHING_SECONDS


def test_rows_that_wait_for_a_broker_are_behind_until_they_are_visible(
    mariadb: MariaDB, new_kafka: Callable[..., Kafka], new_installation: NewInstallation
) -> None:
    broker = new_kafka()
    installation = new_installation(mariadb, broker)
    name = installation.name
    with RelayProcess(installation, "leader") as leader:
        leader.wait_for("RUNNING")
        with RelayProcess(installation, "standby") as standby:
            wait_until(lambda: "state=STANDBY" in standby.log.read_text(), "the standby")
            wait_until(lambda: math.isnan(lag_of(standby)), "no lag of the standby's own")
        mariadb.execute(f"insert into {name}.t values (1, 1, 'a')")
        wait_until(lambda: lag_of(leader) == 0, "no lag")
        broker.kill()
        mariadb.execute(f"insert into {name}.t values (2, 1, 'b')")
        wait_until(lambda: lag_of(leader) > ALMOST_NOTHING_SECONDS, "lag that grows")
        before = lag_of(leader)
        wait_until(lambda: lag_of(leader) > before + 2, "lag that goes on growing")
        broker.start()
        wait_until(lambda: lag_of(leader) == 0, "no lag")
        assert len(read_topic(broker.bootstrap, name)) == 2


def test_a_stopped_instance_falls_behind(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {installation.name}.t values (3, 1, repeat('x', 1500000))")
        status = relay.wait_for("STOPPED", "MESSAGE_TOO_LARGE")
        wait_until(
            lambda: (status := installation.status()) is not None and (status.lag_seconds or 0) > 4,
            f"lag after {status}",
        )
