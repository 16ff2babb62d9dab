"""When a copy of tables waits for the source's load or for live rows: pure decisions."""

from dataclasses import dataclass
from typing import Final

from relay.settings import CopyingSettings

RETRY_SECONDS: Final = 2.0
"""What a copy waits for is asked again after this many seconds."""
_SHARE_OF_STREAM: Final = 10
"""The stream gets so many times the seconds in which it waited for a copy."""


@dataclass(frozen=True, slots=True)
class GivesWay:
    """No chunk was read now; `reason` is a sentence for operators."""

    reason: str


def way_for_source(limits: CopyingSettings, threads_running: int) -> GivesWay | None:
    """Return why the load of the source holds the copy, None if it does not."""
    if not limits.threads_running or threads_running <= limits.threads_running:
        return None
    return GivesWay(
        f"Threads_running of the source is {threads_running}, above "
        f"copying.threads_running = {limits.threads_running}"
    )


def way_for_live_rows(limits: CopyingSettings, lag_s: float | None) -> GivesWay | None:
    """Return why the lag of live rows holds the copy, None if it does not or is not known."""
    if not limits.lag_seconds or lag_s is None or lag_s <= limits.lag_seconds:
        return None
    return GivesWay(
        f"live rows lag {lag_s:.0f} s, more than copying.lag_seconds = {limits.lag_seconds:g}"
    )


def retry_after_s(spent_s: float) -> float:
    """Return after how many seconds a chunk is read again that could not be printed, because
    something did not answer. The stream waited for it for `spent_s`.
    """
    return max(RETRY_SECONDS, _SHARE_OF_STREAM * spent_s)
