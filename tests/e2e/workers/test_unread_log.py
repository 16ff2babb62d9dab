"""A relay of several workers whose output nobody reads: all of them and their parent continue."""

import fcntl
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import httpx

from tests.support.relays.scraping import NO_CERTIFICATES
from tests.support.relays.worker_relay import Shards, is_alive, pid_of
from tests.support.waiting import wait_until

_SMALLEST_PIPE_BYTES = 4096


@contextmanager
def _unread_relay(shards: Shards) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Yield a relay, and the writing end of the pipe that it has for its output."""
    reads, writes = os.pipe()
    fcntl.fcntl(writes, fcntl.F_SETPIPE_SZ, _SMALLEST_PIPE_BYTES)
    command = [sys.executable, "-m", "relay", "relay", "--config", str(shards.installation.file)]
    with subprocess.Popen(command, stdout=writes, stderr=writes) as relay:
        try:
            yield relay, writes
        finally:
            relay.kill()
            os.close(writes)
            os.close(reads)


def _metrics(shards: Shards) -> str:
    (url,) = {each.status_url for each in shards.installation.membership.members()}
    return httpx.get(f"{url}/metrics", trust_env=False, timeout=60, verify=NO_CERTIFICATES).text


def _lost(metrics: str) -> dict[str, float]:
    """The lines that each process has dropped, by the number of the worker."""
    lines = [each for each in metrics.splitlines() if each.startswith("roma_log_lines_lost_total{")]
    return {line.split('"')[1]: float(line.rpartition(" ")[2]) for line in lines}


def test_workers_publish_and_are_restarted_while_nobody_reads_the_log(shards: Shards) -> None:
    with _unread_relay(shards) as (relay, output), ExitStack() as stack:
        shards.wait_until_led()
        loads = shards.load(stack)
        shards.wait_for_rows()
        assert select.select([], [output], [], 0)[1] == [], "the pipe is full"
        victim = pid_of(shards.leaders()["one"])
        os.kill(victim, signal.SIGKILL)
        shards.wait_until_led(lambda leader: pid_of(leader) != victim)
        wait_until(lambda: len(shards.spread()) == 2, "the new worker to lead its share")
        shards.assert_exactly_once(loads)
        lost = _lost(_metrics(shards))
        assert set(lost) == {"0", "1", "2"}
        assert min(lost.values()) > 0
        workers = [each.pid for each in shards.installation.membership.members()]
        relay.terminate()
        assert relay.wait(60) == 0
        assert not any(map(is_alive, workers))
