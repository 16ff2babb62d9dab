"""Workers and their parent that are killed, paused, or die at each start: other workers continue,
and every change is published once.
"""

import json
import os
import re
import signal
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.relays.relay_process import RelayProcess
from tests.support.relays.worker_relay import (
    Shards,
    ask,
    is_alive,
    pid_of,
    wait_for_workers,
)
from tests.support.waiting import wait_until

_FAULTY = "tests.support.faults.faulty_relay"


def log_of(relay: RelayProcess) -> list[dict[str, Any]]:
    return [json.loads(line) for line in relay.log.read_text().splitlines()]


def changes_of_state(relay: RelayProcess, worker: int, instances: set[str]) -> int:
    """How often these instances have changed their state in a worker."""
    return sum(
        each["event"] == "instance_state"
        and each["worker"] == worker
        and each["instance"] in instances
        for each in log_of(relay)
    )


def test_a_killed_worker_takes_only_its_instances_along(shards: Shards) -> None:
    shards.write(rebalance_seconds=3600)
    installation = shards.installation
    with RelayProcess(installation) as relay, ExitStack() as stack:
        workers = wait_for_workers(installation, relay, 2)
        shards.wait_until_led()
        assert shards.spread() == [2, 2], "the first plan knew both workers"
        loads = shards.load(stack)
        shards.wait_for_rows()
        before, victim = shards.leaders(), workers[1]
        spared = {name for name, leader in before.items() if pid_of(leader) != victim}
        states = changes_of_state(relay, 2, spared)
        os.kill(victim, signal.SIGKILL)
        shards.wait_until_led(lambda leader: pid_of(leader) != victim)
        assert {name: shards.leaders()[name] for name in spared} == {
            name: before[name] for name in spared
        }
        assert changes_of_state(relay, 2, spared) == states
        again = wait_for_workers(installation, relay, 2, other_than=victim)
        assert again[2] == workers[2]
        assert relay.stop() == 0
        relay.start()
        shards.assert_exactly_once(loads)
    (ended,) = [each for each in log_of(relay) if each["event"] == "worker_ended"][:1]
    assert (ended["worker"], ended["pid"], ended["reason"]) == (1, victim, "was ended by SIGKILL")
    assert all("worker" in each for each in log_of(relay))
    assert {each["worker"] for each in log_of(relay)} == {0, 1, 2}


def test_workers_end_as_after_sigterm_when_their_parent_is_killed(shards: Shards) -> None:
    installation = shards.installation
    with RelayProcess(installation) as relay, ExitStack() as stack:
        workers = wait_for_workers(installation, relay, 2)
        shards.wait_until_led()
        loads = shards.load(stack)
        shards.wait_for_rows()
        relay.kill()
        wait_until(
            lambda: not any(is_alive(each) for each in workers.values()), "the workers to end"
        )
        assert {each.state for each in installation.statuses()} == {"ENDED"}
        assert shards.leaders() == {}
        relay.start()
        wait_for_workers(installation, relay, 2)
        shards.wait_until_led()
        shards.assert_exactly_once(loads)


def test_a_worker_that_dies_at_each_start_is_named_and_restarted_after_growing_pauses(
    shards: Shards, tmp_path: Path
) -> None:
    installation, fault = shards.installation, tmp_path / "fault"
    fault.touch()
    with RelayProcess(installation, module=_FAULTY, ROMA_FAULT=f"worker:{fault}") as relay:
        shards.wait_until_led()
        wait_until(lambda: len(pauses(relay)) >= 3, "three ends of the worker")
        health = ask(relay, "/healthz")
        assert health.status_code == 503
        assert re.fullmatch(
            r"Worker 2 was ended by SIGKILL; it is started again in \d+ s\.\n", health.text
        )
        assert 'roma_worker_up{worker="2"} 0.0' in ask(relay, "/metrics").text
        assert len(ask(relay, "/status").json()) == len(shards.names)
        fault.unlink()
        wait_for_workers(installation, relay, 2)
        assert ask(relay, "/healthz").text == "ok\n"
        wait_until(lambda: shards.spread() == [2, 2], "the worker to lead its share")
        assert relay.stop() == 0
    assert pauses(relay)[:3] == [1.0, 2.0, 4.0]


def pauses(relay: RelayProcess) -> list[float]:
    """The pauses before restarts, in seconds."""
    return [each["restart_s"] for each in log_of(relay) if "restart_s" in each]


@pytest.mark.long
def test_a_paused_worker_is_named_and_its_instances_move(shards: Shards) -> None:
    installation = shards.installation
    with RelayProcess(installation) as relay, ExitStack() as stack:
        workers = wait_for_workers(installation, relay, 2)
        shards.wait_until_led()
        loads = shards.load(stack)
        shards.wait_for_rows()
        os.kill(workers[1], signal.SIGSTOP)
        try:
            assert ask(relay, "/healthz").text == "Worker 1 does not answer within 2 s.\n"
            assert ask(relay, "/metrics").headers["Roma-Missing-Workers"] == "1"
            shards.wait_until_led(lambda leader: pid_of(leader) != workers[1])
            shown = ask(relay, "/status").json()
            assert {each["relay"] for each in shown} == set(shards.leaders().values())
            assert {each["state"] for each in shown} == {"RUNNING"}
        finally:
            os.kill(workers[1], signal.SIGCONT)
        wait_until(lambda: ask(relay, "/healthz").text == "ok\n", "the worker to answer")
        shards.assert_exactly_once(loads)


def test_a_taken_port_of_the_status_server_ends_the_relay_before_any_worker(
    shards: Shards,
) -> None:
    installation = shards.installation
    with RelayProcess(installation, "first") as first:
        wait_for_workers(installation, first, 2)
        port = ask(first, "/healthz").url.port
        installation.document["status"]["port"] = port
        shards.write()
        second = RelayProcess(installation, "second")
        second.start()
        wait_until(lambda: second.ended, "the end")
        assert second.stop() == 2
        assert (
            f"status.port: the process cannot listen on 127.0.0.1:{port}" in second.log.read_text()
        )
        assert "worker_started" not in second.log.read_text()
