"""A source transaction larger than a Kafka transaction travels in parts, and a crash between the
parts repeats nothing.
"""

from contextlib import closing
from functools import partial

import psutil
from confluent_kafka import Consumer

from deploy.embedded import Kafka, MariaDB
from tests.e2e.conftest import NewInstallation
from tests.support.relays.half_published import is_visible, visible
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.waiting import wait_until

ROWS = 150_000  # enough that a busy machine still looks before the last of them is published
MEMORY_LIMIT_BYTES = 512 * 1024 * 1024


def test_a_crash_inside_a_split_transaction_repeats_nothing(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka, transaction={"split_bytes": 1_000_000})
    name = installation.name
    peak = 0
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(
            f"insert into {name}.t select seq, seq, repeat('x', 400) from {name}.seq_1_to_{ROWS}"
        )
        with closing(Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": "t"})) as reader:
            for _ in range(2):
                some_more = visible(reader, name) + 2_000
                wait_until(partial(is_visible, reader, name, some_more), "a part published")
                peak = max(peak, psutil.Process(relay.pid).memory_info().rss)
                relay.kill()
                assert visible(reader, name) < ROWS, (
                    "the crash came too late: nothing was left of the transaction"
                )
                relay.start()
        mariadb.execute(f"insert into {name}.t values (0, 0, 'last')")
        wait_until(
            lambda: any(
                each.value and each.value["data"][0]["id"] == "0"
                for each in read_topic(kafka.bootstrap, name)
            ),
            "the end",
            90,
        )
    seen = read_topic(kafka.bootstrap, name)
    assert sorted(int((each.value or {})["data"][0]["id"]) for each in seen) == list(
        range(ROWS + 1)
    )
    assert len({each.order for each in seen}) == ROWS + 1
    assert peak < MEMORY_LIMIT_BYTES
