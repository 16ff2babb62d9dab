"""An instance that never published starts at the standby if the source is dead and the standby has
start settings; it returns to the source by the usual proof.
"""

from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import tomli_w

from deploy.embedded import Kafka, MariaDB
from relay.model.failover import ServerRole
from relay.preflight import Finding, Verdict, preflight
from relay.settings import RelaySettings
from tests.e2e.conftest import NewInstallation
from tests.e2e.failover.test_source_failover import Shop
from tests.servers.running import running
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.sources.source_pair import caught_up
from tests.support.sources.source_reading import executed
from tests.support.waiting import wait_until


def test_a_dead_source_does_not_keep_a_new_instance_waiting(
    kafka: Kafka, new_installation: NewInstallation
) -> None:
    with ExitStack() as stack:
        master, replica = (
            stack.enter_context(running(MariaDB({"log_slave_updates": "ON"}))) for _ in range(2)
        )
        replica.replicate_from(master)
        installation = new_installation(
            master,
            kafka,
            source={
                "standby": {"host": replica.host, "port": replica.port},
                "heartbeat_seconds": 0.2,
            },
            failover={
                "detecting_interval_seconds": 0.2,
                "retry_threshold": 2,
                "heartbeat_ha_enable": True,
            },
            start={"at": "end"},
        )
        shop = Shop(installation, kafka)
        caught_up(replica, master)
        before = executed(replica)
        shop.write(master, 3)
        caught_up(replica, master)
        purged = {"start": {"journal_name": "binlog.999999"}}
        _start_standby_at(installation, before)
        found = _start_found(installation, **purged)
        assert found is not None
        assert found.verdict is Verdict.FAILED, "a source that answers is where it starts"
        _start_standby_at(installation, None)
        master.kill()
        with RelayProcess(installation) as relay:
            relay.wait_for("WAITING", "SOURCE_UNREACHABLE")
            assert shop.published() == 0
            assert relay.stop() == 0
        assert _start_found(installation) is None
        _start_standby_at(installation, before)
        found = _start_found(installation)
        assert found is not None
        assert found.verdict is Verdict.PASSED, found
        assert "at the standby" in found.sentence
        with RelayProcess(installation) as relay:
            relay.wait_for("RUNNING")
            shop.all_published()
            master.start()
            shop.order(lambda standing: replace(standing, switch_to=ServerRole.MASTER))
            wait_until(
                lambda: (
                    (view := installation.failover.view("shop")) is not None
                    and view.followed_role is ServerRole.MASTER
                ),
                "the switch to the source",
            )
            shop.write(master, 2)
            shop.all_published()


def _start_found(installation: Installation, **instance: Any) -> Finding | None:
    """What preflight finds of the place where the instance, with other settings, would begin."""
    (document,) = installation.document["instances"]
    settings = RelaySettings.model_validate(
        {**installation.document, "instances": [{**document, **instance}]}
    )
    return next((each for each in preflight(settings) if each.check == "source start"), None)


def _start_standby_at(installation: Installation, gtid_set: str | None) -> None:
    """Write the standby's start settings into the file of the next relay; None: it has none."""
    standby = installation.document["instances"][0]["source"]["standby"]
    standby.pop("start", None)
    if gtid_set is not None:
        standby["start"] = {"gtid_set": gtid_set}
    installation.file.write_text(tomli_w.dumps(installation.document), encoding="utf-8")
