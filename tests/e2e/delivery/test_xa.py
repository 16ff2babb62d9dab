"""XA transactions: nothing of them is seen before their COMMIT, everything once behind it, whatever
happens to the relay in between.
"""

import os
from typing import Any, Final

from deploy.embedded import Kafka, MariaDB, SqlServer
from relay.position import PREPARED, RecordTopic
from relay.settings import KafkaSettings
from tests.e2e.conftest import NewInstallation
from tests.e2e.delivery.test_large_and_slow import keys_in_order, peak_bytes
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import read_topic, topic_answers
from tests.support.waiting import wait_until

LARGE_ROW_BYTES: Final = 10_240
LARGE_ROWS: Final = int(os.environ.get("ROMA_XA_ROWS", "10000"))
"""Of each of the two; 100,000 are a gigabyte."""
LARGE_PEAK_BYTES: Final = 200_000_000


def rows(kafka: Kafka, topic: str) -> list[tuple[str, str]]:
    """Ids and operations in the order of the pair."""
    seen = sorted(read_topic(kafka.bootstrap, topic), key=lambda each: each.order)
    assert len({each.order for each in seen}) == len(seen)
    found: list[dict[str, Any]] = [each.value or {} for each in seen]
    return [(each["type"], each["data"][0]["id"]) for each in found]


def prepare(database: SqlServer, xid: str, *changes: str) -> None:
    database.execute(f"xa start {xid}", *changes, f"xa end {xid}", f"xa prepare {xid}")


def test_rows_come_at_commit_and_never_at_rollback(
    database: SqlServer, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(database, kafka)
    name = installation.name
    first, second, third, fourth = (
        f"'{name}','{word}',{number}" for number, word in enumerate(("a", "b", "c", ""), 1)
    )
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        prepare(
            database,
            first,
            f"insert into {name}.t values (1, 1, 'first'), (2, 1, 'first')",
            f"update {name}.t set n = 2 where id = 2",
        )
        prepare(database, second, f"insert into {name}.t values (3, 1, 'second')")
        prepare(database, third, f"insert into {name}.t values (4, 1, 'third')")
        database.execute(f"insert into {name}.t values (10, 1, 'between')")
        wait_until(lambda: rows(kafka, name) == [("INSERT", "10")], "the row between")
        database.execute(f"xa rollback {second}")
        relay.kill()
        database.execute(f"insert into {name}.t values (11, 1, 'while down')")
        relay.start()
        wait_until(
            lambda: rows(kafka, name) == [("INSERT", "10"), ("INSERT", "11")],
            "the row while down",
        )
        database.execute(f"xa commit {first}", f"insert into {name}.t values (12, 1, 'behind')")
        committed = [
            ("INSERT", "10"),
            ("INSERT", "11"),
            ("INSERT", "1"),
            ("INSERT", "2"),
            ("UPDATE", "2"),
            ("INSERT", "12"),
        ]
        wait_until(lambda: rows(kafka, name) == committed, "the first one")
        relay.kill()
        database.execute(f"xa commit {third}")
        prepare(database, fourth, f"insert into {name}.t values (5, 1, 'fourth')")
        database.execute(
            f"xa commit {fourth}",
            f"xa start {fourth}",
            f"insert into {name}.t values (6, 1, 'one phase')",
            f"xa end {fourth}",
            f"xa commit {fourth} one phase",
        )
        relay.start()
        wait_until(
            lambda: (
                rows(kafka, name) == [*committed, *(("INSERT", each) for each in ("4", "5", "6"))]
            ),
            "the rest",
        )


def test_a_commit_of_rows_that_were_never_read_is_a_stop(
    database: SqlServer, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(database, kafka)
    name = installation.name
    prepare(database, f"'{name}'", f"insert into {name}.t values (1, 1, 'prepared')")
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        database.execute(f"insert into {name}.t values (2, 1, 'before')")
        wait_until(lambda: rows(kafka, name) == [("INSERT", "2")], "the row before")
        database.execute(f"xa commit '{name}'")
        status = relay.wait_for("STOPPED", "PREPARED_UNKNOWN")
        assert "skip" in status.remedy
        assert rows(kafka, name) == [("INSERT", "2")]


def test_what_is_not_in_memory_is_found_behind_the_open_batch(
    database: SqlServer, kafka: Kafka, new_installation: NewInstallation
) -> None:
    """The records of another XA PREPARE lie in the Kafka transaction that the XA COMMIT or XA
    ROLLBACK is met in.
    """
    installation = new_installation(database, kafka)
    name = installation.name
    first, second, third, fourth = (f"'{name}','{word}',1" for word in "abcd")
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        for number, xid in enumerate((first, second), 1):
            prepare(database, xid, f"insert into {name}.t values ({number}, 1, 'before')")
        database.execute(f"insert into {name}.t values (10, 1, 'seen')")
        wait_until(
            lambda: rows(kafka, name) == [("INSERT", "10")], "the row after the prepared ones"
        )
        relay.kill()
        prepare(database, third, f"insert into {name}.t values (3, 1, 'third')")
        database.execute(f"xa rollback {first}")
        prepare(database, fourth, f"insert into {name}.t values (4, 1, 'fourth')")
        database.execute(
            f"xa commit {second}",
            f"xa commit {third}",
            f"xa rollback {fourth}",
            f"insert into {name}.t values (11, 1, 'last')",
        )
        relay.start()
        wanted = [("INSERT", each) for each in ("10", "2", "3", "11")]
        wait_until(lambda: rows(kafka, name) == wanted, "the committed ones")
        assert prepared_records(kafka, installation.name) == {}


def prepared_records(kafka: Kafka, installation: str) -> dict[bytes, bytes]:
    """What the instance still keeps of XA transactions."""
    settings = KafkaSettings(
        bootstrap_servers=kafka.bootstrap, replication_factor=1, min_insync_replicas=1
    )
    return RecordTopic(settings, installation, PREPARED, "shop").read()


def test_a_large_one_beside_another_passes_through_little_memory(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    text = f"repeat(md5(seq), {LARGE_ROW_BYTES // 32})"
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        for number in range(2):
            first = 1 + number * LARGE_ROWS
            sequence = f"{name}.seq_{first}_to_{first + LARGE_ROWS - 1}"
            prepare(
                mariadb,
                f"'{name}','{number}'",
                f"insert into {name}.t select seq, seq, {text} from {sequence}",
            )
        mariadb.execute(f"xa commit '{name}','0'")
        wait_until(lambda: topic_answers(kafka.bootstrap, name), "the topic")
        keys = keys_in_order(kafka.bootstrap, name, LARGE_ROWS, 200)
        peak = peak_bytes(relay.pid)
    assert keys == [f'["{name}.t","{number}"]'.encode() for number in range(1, LARGE_ROWS + 1)]
    assert peak < LARGE_PEAK_BYTES, f"{peak / 1024 / 1024:.0f} MiB"
