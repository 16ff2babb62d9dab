"""Column names after a switch between servers whose table maps carry none: right, or a stop by
name.
"""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from typer.testing import CliRunner

from deploy.embedded import Kafka, MariaDB, MySQL, SqlServer
from relay.cli import app
from tests.e2e.conftest import NewInstallation
from tests.servers.availability import require
from tests.servers.running import running
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.sources.changing_table import Table
from tests.support.sources.source_pair import caught_up
from tests.support.sources.source_reading import ask, end_of
from tests.support.waiting import wait_until

Pair = tuple[SqlServer, SqlServer]
_FALLBACK_SECONDS = 10


@pytest.fixture(
    params=[MariaDB, pytest.param(MySQL, marks=pytest.mark.long)], ids=lambda kind: kind.name
)
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    """A master whose table maps carry names, and a replica whose table maps carry none."""
    kind: type[SqlServer] = request.param
    require(kind)
    with ExitStack() as stack:
        master, replica = (
            stack.enter_context(
                running(kind({"log_slave_updates": "ON", "binlog_row_metadata": metadata}))
            )
            for metadata in ("FULL", "MINIMAL")
        )
        replica.replicate_from(master)
        yield master, replica


def age_s(table: Table, server: SqlServer) -> int:
    """Return the seconds since the table was created: the fallback must begin after that."""
    database, name = table.name.split(".")
    asked = "SELECT UNIX_TIMESTAMP() - UNIX_TIMESTAMP(create_time) FROM information_schema.tables"
    where = f"WHERE table_schema = '{database}' AND table_name = '{name}'"
    return int(ask(server, f"{asked} {where}")[0][0])


def installed(
    make: NewInstallation, kafka: Kafka, pair: Pair, rules: dict[str, object], **source: object
) -> Installation:
    master, replica = pair
    standby = {"host": replica.host, "port": replica.port}
    failover = {"detecting_interval_seconds": 0.2, "retry_threshold": 2, **rules}
    source = {"standby": standby, "heartbeat_seconds": 0.2, **source}
    return make(master, kafka, source=source, failover={"heartbeat_ha_enable": True, **failover})


def test_tables_that_changed_before_a_switch_by_gtid_are_known_after_it(
    pair: Pair, kafka: Kafka, new_installation: NewInstallation
) -> None:
    """The replica is read from the beginning of a file, whose statements its GTID set holds."""
    master, replica = pair
    installation = installed(new_installation, kafka, pair, {})
    table = Table(master, installation, kafka)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        table.row()
        table.run("alter table {t} add x int after id, change n m int")
        table.row()
        table.wait()
        caught_up(replica, master)
        master.kill()
        installation.wait_for_epoch(1, "the replica read")
        table.move_to(replica)
        table.row()
        table.run("alter table {t} change x k int")
        table.row()
        table.wait()


def test_as_new_to_before_an_alter_that_the_switch_held_stops_by_name(
    pair: Pair, kafka: Kafka, new_installation: NewInstallation
) -> None:
    """The names that were known at the switch are later ones than those of the row."""
    master, replica = pair
    installation = installed(new_installation, kafka, pair, {})
    table = Table(master, installation, kafka)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        caught_up(replica, master)
        place = end_of(replica)
        table.row()
        table.run("alter table {t} change n m int")
        table.row()
        table.wait()
        caught_up(replica, master)
        master.kill()
        installation.wait_for_epoch(1, "the replica read")
        table.move_to(replica)
        table.row()
        table.wait()
        to = ["--file", place.file, "--offset", str(place.offset), "--as-new", "--yes", "shop"]
        done = CliRunner().invoke(
            app, ["position", "set", "shop", *to, "--config", str(installation.file)]
        )
        assert done.exit_code == 0, done.output
        status = relay.wait_for("STOPPED", "SCHEMA_MISMATCH")
        assert "was changed at" in status.reason
        assert table.seen() == table.expected


@pytest.mark.long
@pytest.mark.parametrize("pair", [MariaDB], indirect=True, ids=lambda kind: kind.name)
def test_an_alter_that_a_fallback_repeats_stops_by_name(
    pair: Pair, kafka: Kafka, new_installation: NewInstallation
) -> None:
    master, replica = pair
    master.execute("set global binlog_row_metadata = 'NO_LOG'")
    rules: dict[str, object] = {
        "switch_without_gtid": "fallback",
        "fallback_interval_seconds": _FALLBACK_SECONDS,
    }
    installation = installed(new_installation, kafka, pair, rules, gtid=False)
    table = Table(master, installation, kafka)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        wait_until(lambda: age_s(table, master) > _FALLBACK_SECONDS + 1, "an older table")
        table.run("alter table {t} add m int after id")
        table.row()
        table.run("alter table {t} change n m int, change m n int")
        table.row()
        table.wait()
        caught_up(replica, master)
        master.kill()
        status = relay.wait_for("STOPPED", "SCHEMA_MISMATCH")
        assert table.name in status.reason
        assert "was changed at" in status.reason
        assert table.seen() == table.expected
