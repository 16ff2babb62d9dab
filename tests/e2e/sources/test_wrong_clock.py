"""The relay's wall clock is set forward and back while rows flow: none is lost or repeated, and the
order never goes back.
"""

from pathlib import Path

import pytest

from deploy.embedded import Kafka, MariaDB
from tests.e2e.conftest import NewInstallation
from tests.support.faults.stepped_clock import SteppedClock, can_step_clocks
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.sources.counting_load import (
    CountingLoad,
    assert_exactly_once,
    binlog_end,
    published_end,
)
from tests.support.waiting import wait_until

HOUR_S = 3600


@pytest.mark.long
@pytest.mark.skipif(not can_step_clocks(), reason="no C compiler, which the clock is made with")
def test_a_clock_that_brokers_refuse_is_named_and_waited_for(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation, tmp_path: Path
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    with (
        SteppedClock(tmp_path) as clock,
        RelayProcess(installation, folder=None, **clock.environment) as relay,
    ):
        relay.wait_for("RUNNING")
        with CountingLoad(mariadb, name) as load:
            wait_until(lambda: load.changes > 300, "the load")
            clock.step(5 * HOUR_S)
            status = relay.wait_for("WAITING", "CLOCK_AHEAD")
            assert "message.timestamp.after.max.ms" in status.remedy
            clock.step(-5 * HOUR_S)
            relay.wait_for("RUNNING")
            clock.step(-5 * HOUR_S)
            changes = load.changes
            wait_until(lambda: load.changes > changes + 300, "more of the load")
        end = binlog_end(mariadb)
        wait_until(
            lambda: published_end(installation) >= end,
            f"the end of the binlog, {end}: {installation.status()}",
        )
    assert_exactly_once(read_topic(kafka.bootstrap, name), load, mariadb, name)
