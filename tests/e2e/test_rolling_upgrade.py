"""Relays of two versions take turns under load: nothing is lost or repeated, and the older one leaves what it cannot read to the newer."""

import pytest
from typer.testing import CliRunner

from deploy.embedded import Kafka, MariaDB
from relay.cli import app
from tests.e2e.conftest import NewInstallation
from tests.support.counting_load import CountingLoad, assert_exactly_once, binlog_end, published_end
from tests.support.relay_process import RelayProcess
from tests.support.topic_reading import read_topic
from tests.support.waiting import wait_until

_OLDER = "tests.support.older_relay"
_FAR = "0-99-999999999999"


def _logged(relay: RelayProcess, text: str) -> bool:
    return text in relay.log.read_text(errors="replace")


@pytest.mark.timeout(240)
def test_an_upgrade_under_load_loses_and_repeats_nothing(mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    newer = RelayProcess(installation, "newer")
    with RelayProcess(installation, "older", module=_OLDER) as older:
        older.wait_for("RUNNING")
        with newer, CountingLoad(mariadb, name) as load:
            wait_until(lambda: _logged(newer, "state=STANDBY"), "the newer relay standing by")
            assert older.stop() == 0
            newer.wait_for("RUNNING")
            older.start()
            assert newer.stop() == 0
            older.wait_for("RUNNING")
            newer.start()
            assert older.stop() == 0
            newer.wait_for("RUNNING")
            # What only the newer version knows stands in the record from here on.
            skip = ["position", "skip", "shop", "--gtid", _FAR, "--yes", "shop", "--config", str(installation.file)]
            assert CliRunner().invoke(app, skip).exit_code == 0
            older.start()
            newer.kill()
            wait_until(lambda: _logged(older, "POSITION_NEWER"), "the older relay standing by", 30)
            newer.start()
            newer.wait_for("RUNNING")
            load.end()
            end = binlog_end(mariadb)
            wait_until(lambda: published_end(installation) >= end, f"the end of the binlog, {end}", 60)
    assert_exactly_once(read_topic(kafka.bootstrap, name), load, mariadb, name)
