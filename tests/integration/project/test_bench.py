"""The benchmark measures what it says, on real servers and a small binlog."""

from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.embedded import Kafka, MariaDB, SqlServer, ZooKeeper
from tools.bench.measuring.count import count
from tools.bench.measuring.measured_run import measure_run
from tools.bench.measuring.offsets import Offsets
from tools.bench.measuring.orders import Orders
from tools.bench.measuring.workload import Workload, fill
from tools.bench.peers.contestant import BenchFailed, RunSetup
from tools.bench.peers.relay import Relay
from tools.bench.throughput import PLAIN, RELAY, Race
from tools.bench.wide import Wide

_SMALL = Orders(5000, 40)
_TIMED = Orders(50_000, 400)  # so many that the CPU clock, which ticks every 10 ms, moves


@pytest.mark.parametrize("workload", [_SMALL, Wide(400)], ids=lambda workload: workload.name)
def test_the_binlog_holds_as_many_changes_as_the_workload_says(
    database: SqlServer, workload: Workload
) -> None:
    database.execute("DROP DATABASE IF EXISTS bench", "DROP DATABASE IF EXISTS bench_end")
    written = fill(database, workload)
    assert written.changes == (_SMALL.changes if workload.name == "orders" else 500)
    assert written.binlog_bytes > 0


@pytest.mark.long
def test_relay_and_plain_producer_send_the_same_rows(kafka: Kafka, zookeeper: ZooKeeper) -> None:
    race = Race(kafka, zookeeper)
    race.rounds([MariaDB], _TIMED, [RELAY, PLAIN], rounds=1)
    assert race.failures == []
    relay, plain = race.runs
    assert (relay.contestant, plain.contestant) == (RELAY, PLAIN)
    assert relay.rows == plain.rows == relay.messages == _TIMED.changes
    assert relay.value_bytes == plain.value_bytes
    assert relay.wall_s > 0
    assert relay.process_s > 0
    assert relay.peak_bytes is not None
    assert relay.peak_bytes > 10_000_000


def test_a_relay_that_ends_early_is_no_measurement(
    mariadb: MariaDB, kafka: Kafka, zookeeper: ZooKeeper, tmp_path: Path
) -> None:
    mariadb.execute("DROP DATABASE IF EXISTS bench", "DROP DATABASE IF EXISTS bench_end")
    written = fill(mariadb, _SMALL)
    setup = RunSetup(mariadb, kafka, zookeeper, tmp_path, "early", _SMALL.tables, written)
    relay = Relay(setup)
    try:
        (tmp_path / "relay_early.toml").write_text("nonsense = true\n", encoding="utf-8")
        with pytest.raises(BenchFailed, match="It ended before the first row"):
            measure_run(relay, setup, Offsets(kafka))
    finally:
        relay.close()
    assert Offsets(kafka).visible(relay.topics.all) == 0


def test_messages_are_counted_by_what_a_committed_consumer_gets(
    new_mariadb: Callable[..., MariaDB], kafka: Kafka, zookeeper: ZooKeeper, tmp_path: Path
) -> None:
    """Event messages hold many rows; the count looks into them."""
    mariadb = new_mariadb()  # it reads the whole binlog, which other tests' transactions would end
    mariadb.execute("DROP DATABASE IF EXISTS bench", "DROP DATABASE IF EXISTS bench_end")
    written = fill(mariadb, _SMALL)
    setup = RunSetup(mariadb, kafka, zookeeper, tmp_path, "packed", _SMALL.tables, written)
    relay = Relay(setup, form="event")
    try:
        measure_run(relay, setup, Offsets(kafka))
    finally:
        relay.close()
    packed = count(kafka, relay.topics.rows, packed=True)
    assert packed.messages < packed.rows
    assert packed.rows >= written.changes
