"""The status and the metrics name the printer of each table's rows.

A bug in a printer stops the instance, and no row is lost.
"""

import json
import stat
from pathlib import Path

import httpx
import pytest
import tomli_w
from typer.testing import CliRunner

from deploy.embedded import Kafka, MariaDB
from relay.cli import app
from relay.compiled import COMPILED
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.relays.scraping import status_url, wait_for_samples
from tests.support.rows.topic_reading import read_topic
from tests.support.waiting import wait_until

pytestmark = pytest.mark.skipif(
    not COMPILED, reason="without compiled code the readable packages print all rows"
)


def tables_of(relay: RelayProcess) -> dict[str, dict[str, int]]:
    (status,) = httpx.get(f"{status_url(relay)}/status", trust_env=False, timeout=60).json()
    tables: dict[str, dict[str, int]] = status["tables"]
    return tables


def test_a_column_that_sends_a_table_the_slow_way_is_seen(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    mariadb.execute(
        f"create table {name}.c (id int primary key, c varchar(100) compressed)",
        f"create table {name}.v (id int primary key, n int) with system versioning",
    )
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(
            f"insert into {name}.c values (1, 'x'), (2, 'y')",
            f"insert into {name}.t values (1, 1, 'a')",
        )
        wait_for_samples(
            relay,
            {"roma_rows_printed_total,readable,column": 2, "roma_rows_printed_total,compiled,": 1},
        )
        assert tables_of(relay) == {
            f"{name}.c": {"readable: column": 2},
            f"{name}.t": {"compiled": 1},
        }
        printed = {"readable: column": 2, "compiled": 1}
        wait_until(
            lambda: (found := installation.status()) is not None and found.printed_rows == printed,
            "the stored status",
        )
        status = installation.status()
        assert status is not None
        shown = CliRunner().invoke(app, ["status", "--config", str(installation.file), "--json"])
        assert shown.exit_code == 0, shown.output
        assert (
            json.loads(shown.output)["printed_rows"],
            json.loads(shown.output)["relay_alive"],
        ) == (status.printed_rows, True)
        assert (status.row_printer, status.printed_rows) == ("readable, compiled", printed)
        _is_published_as_current_rows_and_history(mariadb, kafka, name, relay)


def _is_published_as_current_rows_and_history(
    mariadb: MariaDB, kafka: Kafka, name: str, relay: RelayProcess
) -> None:
    """Check a system-versioned table: the readable printer prints its rows, and rows of its history
    have a header and message keys that current rows do not have.
    """
    mariadb.execute(
        f"insert into {name}.v values (1, 1)", f"update {name}.v set n = 2", f"delete from {name}.v"
    )
    wait_for_samples(relay, {"roma_rows_printed_total,readable,system_versioned": 4})
    seen = [
        each
        for each in read_topic(kafka.bootstrap, name)
        if each.value is not None and each.value["table"] == "v"
    ]
    told = [
        ((each.value or {})["type"], len(json.loads(each.key or b"")), each.history)
        for each in seen
    ]
    assert [each for each in told if each[2] is None] == [
        ("INSERT", 2, None),
        ("UPDATE", 2, None),
        ("DELETE", 2, None),
    ]
    assert [each for each in told if each[2] is not None] == [("INSERT", 3, "row_end")] * 2


def test_a_bug_of_a_printer_stops_the_instance_until_it_is_turned_off(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation, tmp_path: Path
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    reports = tmp_path / "reports"
    installation.document["bug_reports"] = {"folder": str(reports)}
    installation.file.write_text(tomli_w.dumps(installation.document), encoding="utf-8")
    with RelayProcess(installation, module="tests.support.faults.broken_printer") as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 1, 'a'), (2, 1, 'b')")
        status = relay.wait_for("STOPPED", "PRINTER_FAILED")
        (report,) = reports.iterdir()
        assert str(report) in status.reason
        assert stat.S_IMODE(report.stat().st_mode) == 0o600
        assert json.loads(report.read_text())["table"] == f"{name}.t"
        assert read_topic(kafka.bootstrap, name) == []
    installation.document["instances"][0]["row_printer"] = "readable"
    installation.file.write_text(tomli_w.dumps(installation.document), encoding="utf-8")
    with RelayProcess(installation, module="tests.support.faults.broken_printer") as relay:
        relay.wait_for("RUNNING")
        wait_for_samples(relay, {"roma_rows_printed_total,readable,setting": 2})
        assert sorted(
            json.loads(each.key or b"")[1] for each in read_topic(kafka.bootstrap, name)
        ) == ["1", "2"]
