"""The known facts about one instance at one time."""

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from api.models.instance import InstanceView

STANDBY: Final = "STANDBY"
_LIMIT: Final = re.compile(r"\d+ (?:rows|bytes)/s")
_UNMAPPED: Final = re.compile(r"No (?:table|database) mapping lists (\S+)\.")
_PURGED: Final = re.compile(
    r"The position is (?:in )?(?P<stem>\S+)\.(?P<first>\d+)(?::\d+)?[;,] (?:and )?the oldest "
    r"binlog file of the source is (?P<stem_of_oldest>\S+)\.(?P<oldest>\d+)\."
)
_OUTLIVES: Final = frozenset({"STOPPED", "ENDED", "STANDBY", "NEVER_REPORTED", "UNKNOWN"})
"""States that hold whether or not the relay that reported them still lives."""


class StatePeriod(NamedTuple):
    """A time during which an instance had one state. It ends when the next period begins.

    since_ms  begin in Unix milliseconds
    state     the state; "": the admin had no readings (a gap)
    code      code of the state's error; "": no error
    reason    reason of the error; "": no error
    relay     name of the relay that reported the state
    exact     False: the state may have begun earlier, because the admin did not observe the change
    """

    since_ms: int
    state: str
    code: str
    reason: str
    relay: str
    exact: bool


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts about one instance at one time. Times are in Unix milliseconds.

    view              the status as its relay reported it last
    period            the present state, and when it began
    rate              rows per second; None: unknown
    lag_since_ms      time since which the lag is above the limit; None: it is not above
    mapping_since_ms  time since which a newer mapping set is saved that the instance cannot use;
                      None: there is no such set
    spool_since_ms    time since which the spool on disk is full; None: it is not full
    letters_ms        time at which the newest dead letters were reported; None: none were reported
    letters           number of dead letters since the watch began
    """

    view: InstanceView
    period: StatePeriod
    rate: float | None = None
    lag_since_ms: int | None = None
    mapping_since_ms: int | None = None
    spool_since_ms: int | None = None
    letters_ms: int | None = None
    letters: int = 0


def present_state(view: InstanceView) -> str:
    """Return the present state of an instance.

    That is STANDBY if the relay that ran the instance has ended, unless its last state still
    applies without a relay.
    """
    return view.state if view.relay_alive or view.state in _OUTLIVES else STANDBY


def held_back_by(view: InstanceView) -> str:
    """Return a phrase that names what limits a running instance's speed; "" if nothing does."""
    limited = _LIMIT.match(view.held_back) is not None
    return f"limited to {view.held_back}" if limited else view.held_back


def missing_files(view: InstanceView) -> str:
    """Return the binlog files that the instance needs and that its source has purged, as text.

    The names are taken from the reason that the relay reported with BINLOG_PURGED. Returns an empty
    text for any other reason.
    """
    found = _PURGED.match(view.reason) if view.code == "BINLOG_PURGED" else None
    if found is None:
        return ""
    stem, first, digits_of_oldest = found["stem"], found["first"], found["oldest"]
    count = int(digits_of_oldest) - int(first)
    if count < 1 or found["stem_of_oldest"] != stem:
        return ""
    last = f"{int(digits_of_oldest) - 1:0{len(first)}}"
    one, other = f"{stem}.{first}", f"{stem}.{last}"
    return one if count == 1 else f"{one} to {other} ({count:,} files)"


def unmapped_name(view: InstanceView) -> str:
    """Return the real table or database that stopped the instance because no mapping names it.

    The name is taken from the reason that the relay reported with UNMAPPED_NAME. Returns an empty
    text for any other reason.
    """
    found = _UNMAPPED.fullmatch(view.reason) if view.code == "UNMAPPED_NAME" else None
    return found[1] if found is not None else ""
