"""The delivered alert rules, asked about what a relay of two workers shows."""

from pathlib import Path

from tests.e2e.monitoring.test_alerts import firing, scraped
from tests.e2e.workers.test_worker_faults import pauses
from tests.support.relays.relay_process import RelayProcess
from tests.support.relays.worker_relay import Shards, ask, wait_for_workers
from tests.support.waiting import wait_until

_FAULTY = "tests.support.faults.faulty_relay"


def test_two_workers_raise_nothing_and_a_dead_one_its_own_alert(
    shards: Shards, tmp_path: Path
) -> None:
    installation, fault = shards.installation, tmp_path / "fault"
    fault.touch()
    with RelayProcess(installation, module=_FAULTY, ROMA_FAULT=f"worker:{fault}") as relay:
        shards.wait_until_led()
        wait_until(lambda: len(pauses(relay)) >= 3, "three ends of the worker")
        dead = scraped(relay)
        fault.unlink()
        wait_for_workers(installation, relay, 2)
        shards.wait_until_led()
        wait_until(lambda: is_connected(scraped(relay)), "the metrics of both workers")
        whole = scraped(relay)
        process = ask(relay, "/metrics").text
    assert firing([whole, whole], 15, tmp_path) == ""
    told = firing([whole, dead], 18, tmp_path)
    assert "RomaWorkerDown" in told
    assert not any(
        name in told for name in ("RomaInstanceNotRunning", "RomaLag", "RomaDeadThread")
    ), told
    workers = {line.split('"')[1] for line in process.splitlines() if line[:8] == "process_"}
    assert workers == {"0", "1", "2"}


def is_connected(shown: dict[str, float]) -> bool:
    """Whether each worker shows that ZooKeeper answers."""
    found = [value for name, value in shown.items() if "roma_zookeeper_connected{" in name]
    return found == [1.0, 1.0]
