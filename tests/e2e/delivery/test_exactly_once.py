"""Promises 1 to 3 under kill -9: nothing lost, nothing twice, in order, for a consumer that reads
committed.
"""

import random
import threading

from deploy.embedded import Kafka, MariaDB
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.sources.counting_load import (
    CountingLoad,
    assert_exactly_once,
    binlog_end,
    published_end,
)
from tests.support.waiting import wait_until

KILLS = 8  # `make faults` has a hundred: five in each of twenty runs


def test_eight_kills_under_load_lose_nothing_and_repeat_nothing(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    chance = random.Random(11)
    pause = threading.Event()
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")  # it starts at the end of the binlog
        with CountingLoad(mariadb, name) as load:
            for _ in range(KILLS):
                relay.wait_for("RUNNING")
                pause.wait(chance.uniform(0, 1))
                relay.kill()
                relay.start()
        relay.wait_for("RUNNING")
        end = binlog_end(mariadb)
        wait_until(
            lambda: published_end(installation) >= end,
            f"the end of the binlog, {end}: {installation.status()}",
        )
    assert_exactly_once(read_topic(kafka.bootstrap, name), load, mariadb, name)
