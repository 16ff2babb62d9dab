"""A session that ends, however often, leaves no client behind: each has threads and connections."""

from contextlib import closing
from functools import partial

import psutil

from deploy.embedded import Kafka, MariaDB
from tests.e2e.conftest import NewInstallation
from tests.support.faults.fence import Stranger
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import read_topic, topic_answers
from tests.support.waiting import wait_until

FENCES = 4
A_SESSION_OR_TWO = 2 * 13
"""Files: the one that runs, and the one before it, whose error is still shown."""


def test_many_ended_sessions_leave_neither_files_nor_threads(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        process = psutil.Process(relay.pid)
        used: list[tuple[int, int]] = []
        for number in range(1, FENCES + 1):
            with closing(Stranger(kafka.bootstrap, f"{name}.shop", f"{name}.position.shop")):
                mariadb.execute(f"insert into {name}.t values ({number}, 1, 'a')")
                wait_until(partial(visible, kafka.bootstrap, name, number), f"row {number}")
            used.append((process.num_fds(), process.num_threads()))
    assert used[-1][0] - used[0][0] < A_SESSION_OR_TWO, used
    assert used[-1][1] - used[0][1] < A_SESSION_OR_TWO, used


def visible(bootstrap: str, topic: str, rows: int) -> bool:
    """Whether so many rows can be read; the relay makes the topic with the first one."""
    return topic_answers(bootstrap, topic) and len(read_topic(bootstrap, topic)) == rows
