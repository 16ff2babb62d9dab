"""Starts and ends the processes of a fleet, and observes which relay leads which instance."""

import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from time import monotonic
from types import TracebackType
from typing import Final, NamedTuple, Self

from relay.state import Membership, Paths
from relay.zk import Session
from tests.support.waiting import wait_until
from tools.fleet.gaps import Gaps

INSTALLATION: Final = "fleet"
BASE: Final = f"/roma/{INSTALLATION}"
_LIMIT_SECONDS: Final = 300
_REST_SECONDS: Final = 10


class Shape(NamedTuple):
    """The size of a fleet: instances, relays, and the operating system's processes for them."""

    instances: int
    relays: int
    processes: int

    @property
    def names(self) -> list[str]:
        """Return the names of the instances."""
        return [f"shop_{number:04}" for number in range(self.instances)]


class Fleet:
    """The relays of an installation, some in each process."""

    def __init__(self, session: Session, hosts: str, shape: Shape) -> None:
        self.shape = shape
        self.gaps = Gaps(frozenset(shape.names))
        self._hosts = hosts
        self._membership = Membership(session, Paths(BASE))
        self._children: dict[int, tuple[subprocess.Popen[bytes], tuple[str, ...]]] = {}
        self._next = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for child, _ in self._children.values():
            child.kill()
            child.wait()

    @property
    def processes(self) -> tuple[int, ...]:
        """Return the numbers of the processes that run."""
        return tuple(self._children)

    def start(self, count: int) -> None:
        """Start `count` processes with new relays."""
        each = self.shape.relays // self.shape.processes
        for _ in range(count):
            number, self._next = self._next, self._next + 1
            names = tuple(f"relay-{number}-{one}" for one in range(each))
            command = [sys.executable, "-m", "tools.fleet.worker", self._hosts, BASE]
            child = subprocess.Popen([*command, ",".join(self.shape.names), *names])
            self._children[number] = (child, names)

    def kill(self, numbers: Sequence[int]) -> None:
        """Kill processes by SIGKILL."""
        for number in numbers:
            child, _ = self._children.pop(number)
            child.kill()
            child.wait()

    def stop(self, number: int) -> None:
        """Stop a process by SIGTERM, and wait for its end."""
        child, _ = self._children.pop(number)
        child.terminate()
        child.wait()

    def observe(self) -> int:
        """Record in `gaps` which instances running relays lead now; return how many they do not."""
        alive = {name for _, names in self._children.values() for name in names}
        leaders = self._membership.leaders()
        led = {instance for instance, relay in leaders.items() if relay in alive}
        self.gaps.observe(led)
        return self.shape.instances - len(led)

    def await_all_led(self) -> None:
        """Wait until running relays lead all instances."""
        wait_until(lambda: self.observe() == 0, "all instances are led", _LIMIT_SECONDS)

    def await_each_led(self) -> None:
        """Wait until every instance was led by a running relay at some time since now.

        While instances move between relays, there may be no time at which all are led.
        """
        self.gaps.begin_step()

        def each_was_led() -> bool:
            self.observe()
            return self.gaps.each_was_led

        wait_until(each_was_led, "each instance is led", _LIMIT_SECONDS)

    def await_rest(self) -> None:
        """Wait until all relays are listed, all instances are led, and no leader has changed for
        some seconds.
        """
        changed_s, leaders = monotonic(), self._membership.leaders()

        def rests() -> bool:
            nonlocal changed_s, leaders
            if (now := self._membership.leaders()) != leaders:
                changed_s, leaders = monotonic(), now
            return (
                self._are_listed()
                and self.observe() == 0
                and monotonic() - changed_s >= _REST_SECONDS
            )

        wait_until(rests, "no instance moves", _LIMIT_SECONDS)

    def _are_listed(self) -> bool:
        names = {name for _, names in self._children.values() for name in names}
        return names <= {each.name for each in self._membership.members()}

    def spread(self) -> str:
        """Return the smallest and the largest number of instances that a running relay leads."""
        loads = Counter(self._membership.leaders().values())
        counts = [loads[name] for _, names in self._children.values() for name in names]
        return f"{min(counts, default=0)} to {max(counts, default=0)}"
