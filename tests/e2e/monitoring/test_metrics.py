"""What the relay says of itself in numbers, held against what was written and what Kafka holds."""

from typing import Any

from confluent_kafka import Producer

from deploy.embedded import Kafka, MariaDB
from relay.compiled import COMPILED
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.relays.scraping import scrape, wait_for_samples
from tests.support.rows.topic_reading import Seen, read_topic
from tests.support.sources.counting_load import binlog_end
from tests.support.waiting import wait_until

ROW_EVENTS = ("Write_rows", "Update_rows", "Delete_rows")
HEADER_AND_CHECKSUM_BYTES = 19 + 4


def row_event_bytes(database: MariaDB, start: tuple[str, int]) -> int:
    """Bytes of the bodies of all row events behind `start`, as the server's own list of its binlog
    has them.
    """
    file, offset = start
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"show binlog events in '{file}' from {offset}")
        events = [(int(row[1]), str(row[2])) for row in cursor.fetchall()]
    ends = [place for place, _ in events[1:]] + [binlog_end(database)[1]]
    sizes = [
        end - place - HEADER_AND_CHECKSUM_BYTES
        for (place, kind), end in zip(events, ends, strict=True)
        if kind.startswith(ROW_EVENTS)
    ]
    return sum(sizes)


def positions(kafka: Kafka, installation: Installation) -> list[Seen]:
    """The position records, without the former ones that are kept beside them."""
    return [
        each
        for each in read_topic(kafka.bootstrap, f"{installation.name}.position.shop")
        if each.key == b"shop"
    ]


def of_one_moment(
    relay: RelayProcess, kafka: Kafka, installation: Installation
) -> tuple[list[Seen], dict[str, float]]:
    """The position records and the samples, read with no commit between them.

    A relay without rows commits its position every 10 s.
    """
    committed: list[Seen] = []
    found: dict[str, float] = {}

    def is_one_moment() -> bool:
        committed[:] = positions(kafka, installation)
        found.update(scrape(relay))
        return found["roma_kafka_commits_total"] == len(committed)

    wait_until(is_one_moment, "as many records as commits")
    return committed, found


def set_up(mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation) -> Installation:
    """Tables: t is published, hidden filtered, unlisted in no table mapping, and a database that no
    mapping lists; deletes are filtered.
    """
    filters = {
        "filter_regex": r"e2e_.*\..*",
        "filter_black_regex": r".*\.hidden",
        "operations": ["INSERT", "UPDATE", "DDL"],
    }
    settings: dict[str, Any] = {"filter": filters, "routing": {"unmapped_table": "drop"}}
    installation = new_installation(mariadb, kafka, **settings)
    name = installation.name
    installation.map(tbs=[{"logicTb": "t", "realTbs": "t"}])
    mariadb.execute(
        f"create database {name}_other",
        *(
            f"create table {table} (id int primary key)"
            for table in (f"{name}.hidden", f"{name}.unlisted", f"{name}_other.t")
        ),
    )
    return installation


def test_every_number_is_what_was_written_and_what_kafka_holds(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = set_up(mariadb, kafka, new_installation)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        start = binlog_end(mariadb)
        mariadb.execute(
            f"insert into {name}.t select seq, 1, repeat('x', seq) from {name}.seq_1_to_500",
            f"update {name}.t set n = 2 where id <= 30",
            f"update {name}.t set id = 1000 where id = 500",
            f"delete from {name}.t where id <= 7",
            f"insert into {name}.hidden values (1), (2), (3)",
            f"insert into {name}.unlisted values (1), (2)",
            f"insert into {name}_other.t values (1)",
            f"alter table {name}.t add column w int",
        )
        file, offset = binlog_end(mariadb)
        rows = 500 + 30 + 1
        wait_for_samples(
            relay,
            {
                "roma_source_rows_total": rows + 7 + 3 + 2 + 1,
                "roma_source_transactions_total": 8,
                "roma_source_bytes_total": row_event_bytes(mariadb, start),
                "roma_source_reconnects_total": 0,
                "roma_published_rows_total": rows,
                "roma_published_messages_total": rows
                + 1
                + 1,  # a changed key is two messages; the statement is one
                "roma_dropped_rows_total,operation": 7,
                "roma_dropped_rows_total,filter": 3,
                "roma_dropped_rows_total,unmapped_table": 2,
                "roma_dropped_rows_total,unmapped_db": 1,
                f"roma_table_rows_total,{name},INSERT,t": 500,
                f"roma_table_rows_total,{name},UPDATE,t": 31,
                f"roma_table_transactions_total,{name},INSERT,t": 1,
                f"roma_table_transactions_total,{name},UPDATE,t": 2,
                "roma_dropped_names": 4,
                "roma_position_file_number": int(file.rpartition(".")[2]),
                "roma_position_offset": offset,
                "roma_instance_state,RUNNING": 1,
                "roma_buffer_bytes": 0,
                "roma_mapping_set": 2,
                "roma_mapping_broken": 0,
                "roma_epoch": 0,
                "roma_zookeeper_connected": 1,
                "roma_zookeeper_sessions": 1,
                "roma_fences_total": 0,
            },
        )
        status = installation.status()
        assert status is not None
        assert status.row_printer == ("compiled, readable" if COMPILED else "readable")
        assert status.printed_rows["readable: moved_row"] == 1
        assert sum(status.printed_rows.values()) == rows
        met = (f"{name}.hidden", f"{name}.t", f"{name}.unlisted", f"{name}_other.t")
        wait_until(lambda: installation.tables() == met, "the tables that were met")
        visible = [*read_topic(kafka.bootstrap, name), *read_topic(kafka.bootstrap, f"{name}.ddl")]
        committed, found = of_one_moment(relay, kafka, installation)
        assert len(visible) == found["roma_published_messages_total"]
        assert sum(each.value_bytes for each in visible) == found["roma_published_bytes_total"]
        assert found["roma_kafka_commit_seconds_count"] == len(committed)
        assert 0 < found["roma_kafka_commit_seconds_sum"] < 60
        assert 0 < found["roma_commit_to_publish_seconds_count"] <= len(committed)
        assert (committed[-1].value or {})["order"]["execute_time"] == found["roma_execute_time_ms"]
        assert found["roma_buffer_put"] >= found["roma_buffer_get"] >= found["roma_buffer_ack"] > 0


def test_only_what_was_committed_counts_as_published(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 1, 'fits')")
        wait_for_samples(relay, {"roma_published_rows_total": 1})
        mariadb.execute(f"insert into {name}.t values (2, 1, 'fits'), (3, 1, repeat('x', 1500000))")
        relay.wait_for("STOPPED", "MESSAGE_TOO_LARGE")
        found = wait_for_samples(
            relay,
            {
                "roma_instance_state,STOPPED": 1,
                "roma_kafka_aborts_total,MESSAGE_TOO_LARGE": 1,
                "roma_errors_total,MESSAGE_TOO_LARGE": 1,
                "roma_published_rows_total": 1,
                "roma_published_messages_total": 1,
            },
        )
        assert found["roma_published_bytes_total"] == sum(
            each.value_bytes for each in read_topic(kafka.bootstrap, name)
        )
        of_one_moment(relay, kafka, installation)


def test_a_lost_connection_and_a_fence_are_counted_and_nothing_twice(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 1, 'a')")
        wait_for_samples(relay, {"roma_published_rows_total": 1, "roma_source_reconnects_total": 0})
        assert kill_dumps(mariadb) == 1
        wait_for_samples(relay, {"roma_source_reconnects_total": 1})
        mariadb.execute(f"insert into {name}.t values (2, 1, 'b')")
        wait_for_samples(relay, {"roma_published_rows_total": 2, "roma_fences_total": 0})
        Producer(
            {"bootstrap.servers": kafka.bootstrap, "transactional.id": f"{name}.shop"}
        ).init_transactions(20)
        mariadb.execute(f"insert into {name}.t values (3, 1, 'c')")
        found = wait_for_samples(
            relay,
            {
                "roma_published_rows_total": 3,
                "roma_source_reconnects_total": 2,
                "roma_fences_total": 1,
                "roma_kafka_aborts_total,FENCED": 1,
            },
        )
        assert found["roma_published_messages_total"] == len(read_topic(kafka.bootstrap, name)) == 3


def test_values_that_are_no_characters_are_counted(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    """Two bytes that are well formed in EUC-KR and stand for nothing: the server prints a question
    mark.
    """
    installation = new_installation(mariadb, kafka)
    name = installation.name
    mariadb.execute(
        f"create table {name}.k (id int primary key, c varchar(10) character set euckr)"
    )
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(
            f"insert into {name}.k values (1, _euckr x'C9A1'), (2, 'fine'), (3, _euckr x'C9A2C9A3')"
        )
        wait_for_samples(
            relay, {"roma_published_rows_total": 3, "roma_undecodable_values_total": 2}
        )
        texts = sorted(
            (each.value or {})["data"][0]["c"] for each in read_topic(kafka.bootstrap, name)
        )
        assert ["\ufffd" in text for text in texts] == [False, True, True]


def kill_dumps(database: MariaDB) -> int:
    """End the relay's connection at the source; how many there were."""
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute(
            "select id from information_schema.processlist where user = 'relay' and command = "
            "'Binlog Dump'"
        )
        ids = [int(row[0]) for row in cursor.fetchall()]
        for number in ids:
            cursor.execute(f"kill {number}")
    return len(ids)
