"""A real admin process over an installation in ZooKeeper, and the times of its answers."""

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Final

import httpx
import psutil

from relay.deadline import Deadline

HEADINGS: Final = ("address", "bytes", "p50 ms", "p95 ms", "MB")
"""The headings of the table's columns; the last four are those of `measured`."""
_TOKEN: Final = "scale-token"
_HEADERS: Final = {"Authorization": f"Bearer {_TOKEN}"}


@contextmanager
def served_admin(
    hosts: str, installation: str, instances: Sequence[str]
) -> Iterator[tuple[httpx.Client, psutil.Process]]:
    """Context manager: run an admin for an installation with these instances during the block.

    Yields an HTTP client of the admin, and the admin's process. `hosts` are ZooKeeper's.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "relay.toml"
        file.write_text(_configuration(hosts, installation, instances), encoding="utf-8")
        command = [sys.executable, "-m", "api", "--config", str(file)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            try:
                assert child.stdout is not None
                url = child.stdout.readline().partition(": ")[2].strip()
                with httpx.Client(
                    base_url=url, headers=_HEADERS, trust_env=False, timeout=120
                ) as client:
                    _await_ready(client)
                    yield client, psutil.Process(child.pid)
            finally:
                child.terminate()


def _configuration(hosts: str, installation: str, instances: Sequence[str]) -> str:
    head = (
        f'installation = "{installation}"\n[kafka]\nbootstrap_servers = "127.0.0.1:1"\n'
        f'[zookeeper]\nhosts = "{hosts}"\n[api]\nport = 0\ntoken = "{_TOKEN}"\n'
        '[log]\nlevel = "ERROR"\n'
    )
    return head + "".join(
        f'[[instances]]\nname = "{name}"\n[instances.source]\nhost = "h"\nuser = "u"\n'
        for name in instances
    )


def _await_ready(client: httpx.Client) -> None:
    deadline = Deadline.after(60)
    while client.get("/readyz").status_code != httpx.codes.OK:
        if deadline.passed:
            raise SystemExit("the admin does not reach ZooKeeper")


def measured(
    client: httpx.Client, address: str, requests: int, process: psutil.Process
) -> list[str]:
    """Send `requests` requests to an address. Return texts for a table: the size of the answer, the
    median and the 95th percentile of the response times, and the admin's memory.
    """
    took, size = [], 0
    headers = {} if address.startswith("/api/") else {"Accept": "text/html"}
    for _ in range(requests):
        began = perf_counter()
        answer = client.get(address, headers=headers)
        took.append((perf_counter() - began) * 1000)
        if answer.status_code != httpx.codes.OK:
            return [f"{answer.status_code} {answer.text[:60]}", "", "", ""]
        size = len(answer.content)
    p95 = statistics.quantiles(took, n=20)[-1]
    memory = process.memory_info().rss / 1e6
    return [f"{size:,}", f"{statistics.median(took):,.0f}", f"{p95:,.0f}", f"{memory:,.0f}"]
