"""Decides when a copy of tables waits because of the source's load or the lag of live rows."""

from dataclasses import dataclass
from typing import Final

from relay.settings import CopyingSettings

RETRY_SECONDS: Final = 2.0
"""After this many seconds, a waiting copy checks again whether it may continue."""
_SHARE_OF_STREAM: Final = 10
"""The stream gets so many times the seconds in which it waited for a copy."""


@dataclass(frozen=True, slots=True)
class CopyWait:
    """The decision that no chunk is read now; `reason` is a sentence for operators."""

    reason: str


def decide_by_source_load(limits: CopyingSettings, threads_running: int) -> CopyWait | None:
    """Return a CopyWait if the source runs more than `copying.threads_running` threads; None
    otherwise.
    """
    if not limits.threads_running or threads_running <= limits.threads_running:
        return None
    return CopyWait(
        f"Threads_running of the source is {threads_running}, above "
        f"copying.threads_running = {limits.threads_running}"
    )


def decide_by_lag(limits: CopyingSettings, lag_s: float | None) -> CopyWait | None:
    """Return a CopyWait if live rows lag more than `copying.lag_seconds`; None otherwise, or if the
    lag is unknown.

    `lag_s` is in seconds.
    """
    if not limits.lag_seconds or lag_s is None or lag_s <= limits.lag_seconds:
        return None
    return CopyWait(
        f"live rows lag {lag_s:.0f} s, more than copying.lag_seconds = {limits.lag_seconds:g}"
    )


def retry_after_s(spent_s: float) -> float:
    """Return the pause in seconds before a chunk is read again that could not be printed, because a
    server did not answer: the broker, ZooKeeper, the registry, or one that a transform queries.

    The stream waited `spent_s` seconds for that server; the pause grows with it.
    """
    return max(RETRY_SECONDS, _SHARE_OF_STREAM * spent_s)
