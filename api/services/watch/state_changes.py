"""Stores the newest changes of instances' states with numbers, for the streams that send them."""

import threading
from collections import deque
from collections.abc import Mapping, Sequence
from time import time
from typing import Final, NamedTuple

from api.services.watch.facts import Facts, present_state

_KEPT: Final = 2000
"""Number of stored changes; a receiver that missed more gets the state of every instance again."""
REMOVED: Final = "REMOVED"
"""State of an instance that no longer exists."""


class StateChange(NamedTuple):
    """A change of an instance's state.

    number    number of the change, from 1 after each start of the admin
    instance  name of the instance
    state     the new state
    code      code of the new state's error; "": no error
    reason    reason of the error; "": no error
    relay     name of the relay that reported the state
    since_ms  begin of the new state in Unix milliseconds
    """

    number: int
    instance: str
    state: str
    code: str
    reason: str
    relay: str
    since_ms: int


class ChangeLog:
    """Stores the newest changes of instances' states. `Watch` adds them; any thread may read them.

    Changes are numbered from 1 after each start of the admin. `boot` identifies the start.
    """

    def __init__(self, boot_ms: int | None = None) -> None:
        self.boot: Final = str(int(time() * 1000) if boot_ms is None else boot_ms)
        self._lock = threading.Lock()
        self._number = 0
        self._changes: deque[StateChange] = deque(maxlen=_KEPT)
        self._present: dict[str, StateChange] = {}

    def note(self, facts: Mapping[str, Facts], now_ms: int) -> None:
        """Add the differences between the former reading and `facts`.

        `now_ms` is the time of removals in Unix milliseconds.
        """
        with self._lock:
            for name, each in facts.items():
                view, known = each.view, self._present.get(name)
                state = present_state(view)
                seen = (state, view.code, view.relay)
                if known is None or (known.state, known.code, known.relay) != seen:
                    since_ms = each.period.since_ms
                    self._add(name, state, view.code, view.reason, view.relay, since_ms)
            for name in self._present.keys() - facts.keys():
                self._add(name, REMOVED, "", "", "", now_ms)
                del self._present[name]

    def present(self) -> tuple[int, Sequence[StateChange]]:
        """Return the number of the newest change, and every instance's state, the oldest first."""
        with self._lock:
            return self._number, sorted(self._present.values())

    def after(self, number: int) -> Sequence[StateChange] | None:
        """Return the changes after number `number`; None if some of them are no longer stored, or
        if no change has that number yet.
        """
        with self._lock:
            if number > self._number or self._number - number > len(self._changes):
                return None
            return [each for each in self._changes if each.number > number]

    def _add(
        self, instance: str, state: str, code: str, reason: str, relay: str, since_ms: int
    ) -> None:
        self._number += 1
        change = StateChange(self._number, instance, state, code, reason, relay, since_ms)
        self._present[instance] = change
        self._changes.append(change)
