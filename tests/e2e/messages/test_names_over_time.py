"""Columns keep their names where the binlog carries none: while the relay reads, lags, is down,
begins anew, or goes back.
"""

import json
import signal
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from deploy.embedded import Kafka, MariaDB, MySQL, SqlServer
from relay.cli import app
from tests.e2e.conftest import NewInstallation
from tests.servers.running import factory
from tests.support.relays.relay_process import RelayProcess
from tests.support.relays.start_settings import start_at
from tests.support.rows.topic_reading import read_topic
from tests.support.sources.changing_table import Table
from tests.support.sources.purging import purge
from tests.support.sources.table_changes import TABLE_CHANGES
from tests.support.waiting import wait_until


@pytest.fixture(scope="module", params=["mariadb", "mysql"])
def bare(request: pytest.FixtureRequest) -> Iterator[SqlServer]:
    """A server of each family whose table maps carry no names."""
    with factory(MariaDB) if request.param == "mariadb" else factory(MySQL) as start:
        yield start({"binlog_row_metadata": "MINIMAL"})


OF_ONE_FAMILY = pytest.mark.parametrize(
    "bare", ["mariadb", pytest.param("mysql", marks=pytest.mark.long)], indirect=True
)


def change(table: Table, sqls: tuple[str, ...]) -> None:
    for sql in sqls:
        if "_gho to" in sql:
            table.run("create table {t}_gho like {t}", "alter table {t}_gho add ghost int after id")
        table.run(sql.replace("rename column z_ to x", "add column x int"))
        table.row()


def place(database: SqlServer) -> tuple[str, int]:
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute(
            "show binary log status" if database.family == "mysql" else "show master status"
        )
        row = cursor.fetchall()[0]
    return str(row[0]), int(row[1])


def test_rows_come_under_the_names_of_their_day(
    bare: SqlServer, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(bare, kafka)
    table = Table(bare, installation, kafka)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        table.row()
        change(table, TABLE_CHANGES[:3])
        table.wait()
        relay.kill()
        change(table, TABLE_CHANGES[3:6])
        bare.execute("flush binary logs")
        change(table, TABLE_CHANGES[6:8])
        relay.start()
        table.wait()
        relay.signal(signal.SIGSTOP)
        change(table, TABLE_CHANGES[8:])
        relay.signal(signal.SIGCONT)
        table.wait()
        bare.execute("set global binlog_row_metadata = 'FULL'")
        table.run("alter table {t} add full_ int first")
        table.row()
        bare.execute("set global binlog_row_metadata = 'MINIMAL'")
        table.run("alter table {t} drop full_, add bare_ int first")
        table.row()
        table.wait()
        assert relay.log.read_text().count("tables_described") == 1, (
            "the catalogue was asked at the first start alone"
        )


@OF_ONE_FAMILY
def test_a_change_that_was_not_logged_is_read_again_or_stops_by_name(
    bare: SqlServer, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(bare, kafka)
    table = Table(bare, installation, kafka)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        table.row()
        table.wait()
        table.run("set session sql_log_bin = 0", "alter table {t} add x int first")
        table.row()
        table.wait()
        assert relay.wait_for("RUNNING").position_offset > 0
        relay.stop()
        table.run(
            "set session sql_log_bin = 0", "alter table {t} drop x, add k int, add z int first"
        )
        table.row()
        table.run("set session sql_log_bin = 0", "alter table {t} drop z")
        table.row()
        relay.start()
        status = relay.wait_for("STOPPED", "SCHEMA_MISMATCH")
        assert "catalogue" in status.reason
        assert table.name in status.reason


@OF_ONE_FAMILY
def test_a_first_start_in_the_past_names_what_it_can_and_stops_at_what_it_cannot(
    bare: SqlServer, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(bare, kafka)
    table = Table(bare, installation, kafka)
    file, offset = place(bare)
    start_at(installation.file, at="position", journal_name=file, position=offset)
    table.row()
    table.run("create table {t}_other (a int)", "create index i on {t} (n)", "truncate {t}_other")
    table.row()
    with RelayProcess(installation) as relay:
        table.wait()
        relay.stop()
    later = new_installation(bare, kafka)
    other = Table(bare, later, kafka)
    file, offset = place(bare)
    start_at(later.file, at="position", journal_name=file, position=offset)
    other.row()
    other.run("alter table {t} rename column n to m")
    with RelayProcess(later) as relay:
        status = relay.wait_for("STOPPED", "SCHEMA_MISMATCH")
        assert "was changed at" in status.reason
        assert later.name in status.reason


@OF_ONE_FAMILY
def test_names_are_those_of_the_place_that_a_position_is_moved_back_to(
    bare: SqlServer, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(bare, kafka)
    table = Table(bare, installation, kafka)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        table.row()
        table.run("alter table {t} add x int first")
        file, offset = place(bare)
        table.row()
        table.run("alter table {t} rename column x to k, rename column n to x")
        table.row()
        table.wait()
        before = len(read_topic(kafka.bootstrap, table.topic))
        move = [
            "position",
            "set",
            "shop",
            "--file",
            file,
            "--offset",
            str(offset),
            "--as-new",
            "--yes",
            "shop",
        ]
        moved = CliRunner().invoke(app, [*move, "--config", str(installation.file)])
        assert moved.exit_code == 0, moved.output
        wait_until(
            lambda: len(read_topic(kafka.bootstrap, table.topic)) == before + 2,
            "two rows again",
        )
        table.wait()


@OF_ONE_FAMILY
def test_prepared_rows_keep_the_names_that_they_were_prepared_under(
    bare: SqlServer, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(bare, kafka)
    name = installation.name
    table = Table(bare, installation, kafka)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        table.run(
            "alter table {t} rename column n to m",
            f"xa start '{name}'",
            "insert into {t} values (7, 8, 'nine')",
            f"xa end '{name}'",
            f"xa prepare '{name}'",
        )
        # MariaDB lets the session of a prepared transaction do nothing else: what comes behind is
        # another session's.
        table.run(
            f"create table {name}.other (id int primary key)",
            f"insert into {name}.other values (1)",
        )
        wait_until(lambda: len(read_topic(kafka.bootstrap, table.topic)) == 1, "the row behind")
        relay.kill()
        table.run(f"xa commit '{name}'", "alter table {t} rename column m to o")
        relay.start()
        wait_until(
            lambda: table.seen() == {"7": {"id": "7", "m": "8", "v": "nine"}},
            "the prepared row",
        )


@OF_ONE_FAMILY
def test_versions_of_a_binlog_that_is_gone_are_taken_away(
    bare: SqlServer, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(bare, kafka)
    table = Table(bare, installation, kafka)
    topic = f"{installation.name}.schema.shop"

    def versions() -> int:
        kept = {each.key: each.value for each in read_topic(kafka.bootstrap, topic)}
        return sum(
            value is not None
            for key, value in kept.items()
            if key is not None and f'"{installation.name}","t' in key.decode()
        )

    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        table.row()
        for number in range(5):
            table.run(
                f"alter table {{t}} add c{number} int first",
                "create table {t}_passing (a int)",
                "drop table {t}_passing",
            )
            table.row()
        bare.execute("flush binary logs")
        table.row()
        table.wait()
        assert versions() == 1 + 5 + 5 * 2
        assert relay.stop() == 0
        purge(bare)
        relay.start()
        table.row()
        table.wait()
        wait_until(lambda: versions() == 1, "one version of one table")
        table.run("alter table {t} add z int first")
        table.row()
        relay.kill()
        relay.start()
        table.wait()


KEYS_OVER_TIME = (
    (
        "create table {t} (a int, b varchar(10) not null, c int not null, unique key ka (a), unique "  # noqa: E501
        "key kb (b, c))"
    ),
    "alter table {t} drop index kb, add unique key kc (c)",
    "alter table {t} modify a int not null",
    "create unique index kb on {t} (b)",
    "alter table {t} drop index ka",
    "alter table {t} add primary key (b, a)",
    "alter table {t} drop primary key, drop index kc",
    "alter table {t} rename column c to cc",
    "alter table {t} drop index kb",
)
"""Each leaves another key, the last one none.

The server chooses the first unique key whose columns are all NOT NULL.
"""


@pytest.mark.parametrize("server", ["mariadb", pytest.param("mysql_9", marks=pytest.mark.long)])
def test_a_lagging_relay_that_follows_ddl_keys_rows_as_a_live_one_did(
    server: str, request: pytest.FixtureRequest, kafka: Kafka, new_installation: NewInstallation
) -> None:
    database: SqlServer = request.getfixturevalue(server)
    live = new_installation(database, kafka)
    name = live.name
    late = new_installation(
        database, kafka, source={"names": "history"}, filter={"filter_regex": f"{name}\\..*"}
    )
    late.map(
        topics=[{"logicDb": name, "topic": late.name}], dbs=[{"logicDb": name, "realDbs": name}]
    )
    with RelayProcess(late, "late") as relay:
        relay.wait_for("RUNNING")
    with RelayProcess(live, "live") as relay:
        relay.wait_for("RUNNING")
        for number, ddl in enumerate(KEYS_OVER_TIME):
            database.execute(
                ddl.format(t=f"{name}.k"),
                f"insert into {name}.k values ({number}, 'b{number}', {number})",
            )
        database.execute(
            f"update {name}.k set b = concat('x', b)",
            f"drop table {name}.k",
            f"insert into {name}.t values (1, 1, 'last')",
        )
        published = _published(kafka, name)
    with RelayProcess(late, "late") as relay:
        assert _published(kafka, late.name) == published
    keys = [
        json.loads(key)[1:] if key is not None else None
        for key, _ in published[: len(KEYS_OVER_TIME)]
    ]
    assert keys == [["b0", "0"], ["1"], ["2"], ["3"], ["4"], ["b5", "5"], ["b6"], ["b7"], None]


def _published(kafka: Kafka, topic: str) -> list[tuple[bytes | None, dict[str, object]]]:
    """Keys and what tells of keys and rows, in order, up to the last row."""

    def found() -> list[tuple[bytes | None, dict[str, object]]]:
        seen = sorted(read_topic(kafka.bootstrap, topic), key=lambda each: each.order)
        return [
            (
                each.key,
                {
                    name: (each.value or {})[name]
                    for name in ("table", "type", "pkNames", "data", "old")
                },
            )
            for each in seen
        ]

    wait_until(
        lambda: any(value["table"] == "t" for _, value in found()), f"the last row in {topic}"
    )
    return found()
