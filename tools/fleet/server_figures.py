"""Reads the load of a ZooKeeper server, by its four-letter commands."""

import socket
from time import monotonic
from typing import Final, NamedTuple

import psutil

from deploy.embedded import ZooKeeper

_COUNTER_MASK: Final = 2**32 - 1
"""The low half of a transaction's number counts the writes of a leader's term."""


class Load(NamedTuple):
    """Figures per second: writes of any node, requests, and processor seconds of the server."""

    writes: float
    requests: float
    cpu: float


class LoadMeter:
    """Measures a server's load from its creation on."""

    def __init__(self, server: ZooKeeper) -> None:
        self._server = server
        self._pid = server.pid
        self._began_s = monotonic()
        self._before = _counters(server)

    def load(self) -> Load | None:
        """Return the load until now; None if the server was restarted: its counters began again."""
        if self._server.pid != self._pid:
            return None
        took_s, now = monotonic() - self._began_s, _counters(self._server)
        return Load(*((each - then) / took_s for each, then in zip(now, self._before, strict=True)))


def _counters(server: ZooKeeper) -> tuple[float, float, float]:
    zxid = int(_words(server, "srvr")["Zxid"], 16) & _COUNTER_MASK
    packets = int(_words(server, "mntr", "\t")["zk_packets_received"])
    times = psutil.Process(server.pid).cpu_times()
    return zxid, packets, times.user + times.system


def _words(server: ZooKeeper, word: str, between: str = ": ") -> dict[str, str]:
    host, _, port = server.address.partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(word.encode())
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    lines = answer.decode().splitlines()
    return {
        name: value for name, found, value in (line.partition(between) for line in lines) if found
    }
