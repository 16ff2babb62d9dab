"""Compressed transactions of MySQL and compressed events of MariaDB: complete, in order, once, over
a crash in the middle of one.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from deploy.embedded import Kafka, SqlServer
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import Seen, read_topic
from tests.support.sources.source_reading import ask, end_of
from tests.support.waiting import wait_until

ROWS = 12_000
CRASHING = "tests.support.faults.crashing_relay"
FIRST_PART = "committed:2"  # the first commit of an instance holds its start position alone
COMPRESSED = {
    "mysql": {"Transaction_payload"},
    "mariadb": {"Query_compressed", "Write_rows_compressed_v1", "Update_rows_compressed_v1"},
}


@contextmanager
def compressing(server: SqlServer) -> Iterator[tuple[str, ...]]:
    """Let the server compress; yields what a session says before its changes."""
    if server.family == "mysql":
        yield (
            "set session binlog_transaction_compression = on",
            f"set session cte_max_recursion_depth = {ROWS + 1}",
        )
        return
    server.execute("set global log_bin_compress = on", "set global log_bin_compress_min_len = 10")
    try:
        yield (f"set session max_recursive_iterations = {ROWS + 1}",)
    finally:
        server.execute(
            "set global log_bin_compress = off", "set global log_bin_compress_min_len = default"
        )


def kinds_since(server: SqlServer, file: str, offset: int) -> set[str]:
    return {str(row[2]) for row in ask(server, f"show binlog events in '{file}' from {offset}")}


def row_id(seen: Seen) -> int:
    assert seen.value is not None
    return int(seen.value["data"][0]["id"])


@pytest.mark.parametrize("family", ["mysql_9", pytest.param("mariadb", marks=pytest.mark.long)])
def test_a_crash_inside_a_compressed_transaction_loses_and_repeats_nothing(
    family: str, request: pytest.FixtureRequest, kafka: Kafka, new_installation: NewInstallation
) -> None:
    server: SqlServer = request.getfixturevalue(family)
    installation = new_installation(
        server, kafka, transaction={"split_bytes": 200_000}, message={"headers": "full"}
    )
    name = installation.name
    start = end_of(server)
    numbers = (
        f"with recursive c(i) as (select 1 union all select i + 1 from c where i < {ROWS}) select "
        f"i, i, repeat('v', 300) from c"
    )
    with compressing(server) as before:
        with RelayProcess(
            installation, "crashing", module=CRASHING, ROMA_CRASH=FIRST_PART
        ) as relay:
            relay.wait_for("RUNNING")
            server.execute(*before, f"insert into {name}.t {numbers}")
            relay.wait_for_crash()
        assert 0 < len(read_topic(kafka.bootstrap, name)) < ROWS, (
            "the crash came too late: nothing was left of the transaction"
        )
        with RelayProcess(installation) as relay:
            server.execute(
                *before,
                f"alter table {name}.t add column extra int, comment = '{'c' * 300}'",
                f"update {name}.t set n = -1, extra = 7 where id = 5",
                f"delete from {name}.t where id = 6",
                f"truncate table {name}.t",
            )
            wait_until(lambda: len(read_topic(kafka.bootstrap, name)) >= ROWS + 2, "all rows", 90)
            assert relay.stop() == 0
            server.execute(*before, f"insert into {name}.t values (0, 0, repeat('w', 300), 1)")
            relay.start()
            wait_until(
                lambda: len(read_topic(kafka.bootstrap, name)) >= ROWS + 3,
                "the row behind the stop",
            )
    assert COMPRESSED[server.family] <= kinds_since(server, start.file, start.offset)
    seen = sorted(read_topic(kafka.bootstrap, name), key=lambda each: each.order)
    assert [row_id(each) for each in seen] == [*range(1, ROWS + 1), 5, 6, 0]
    assert len({each.order for each in seen}) == ROWS + 3
    changed, removed = (each.value for each in seen[ROWS : ROWS + 2])
    assert changed is not None
    assert (changed["data"][0]["extra"], changed["old"]) == ("7", [{"n": "5", "extra": None}])
    assert removed is not None
    assert removed["type"] == "DELETE"
    [altered] = [
        each
        for each in read_topic(kafka.bootstrap, f"{name}.ddl")
        if each.value and each.value["type"] == "ALTER"
    ]
    assert seen[ROWS - 1].order < altered.order < seen[ROWS].order
    [truncated] = [
        each
        for each in read_topic(kafka.bootstrap, f"{name}.ddl")
        if each.value and each.value["type"] == "TRUNCATE"
    ]
    assert seen[ROWS + 1].order < truncated.order < seen[ROWS + 2].order
    assert {each.shard for each in (*seen, altered, truncated)} == {f"shop/{name}.t"}
