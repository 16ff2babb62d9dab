"""Shows relay processes under the names of their servers instead of host and pid."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from api.models.instance import RelayView


class RelayName(NamedTuple):
    """The name of a relay process on a page.

    shown   name of the server (`placement.server`), with the pid if the server runs several relays
    host    name of the host; empty if that is the same as `shown`
    title   text of the tooltip with the process; empty without a relay
    """

    shown: str
    host: str
    title: str


@dataclass(frozen=True, slots=True)
class RelayNames:
    """Maps relay processes to names. A process that has ended is shown with the name of its
    host.
    """

    known: Mapping[str, RelayName] = field(default_factory=dict)

    @classmethod
    def of(cls, relays: Iterable[RelayView]) -> "RelayNames":
        """Return the names of these relays."""
        every = tuple(relays)
        on_server = Counter(each.server for each in every)
        return cls({each.name: _name(each, on_server[each.server]) for each in every})

    def __call__(self, process: str) -> RelayName:
        """Return the name of a process, `HOST-PID` as relays register it."""
        if process in self.known or not process:
            return self.known.get(process, RelayName("", "", ""))
        host, _, pid = process.rpartition("-")
        is_process = bool(host) and pid.isdecimal()
        title = f"process {process}, which has ended"
        return RelayName(host if is_process else process, "", title)


def _name(relay: RelayView, on_server: int) -> RelayName:
    server = relay.server or relay.host or relay.name
    shown = f"{server} (pid {relay.pid})" if on_server > 1 else server
    host = "" if relay.host in ("", server) else relay.host
    return RelayName(shown, host, f"process {relay.name}, pid {relay.pid}")
