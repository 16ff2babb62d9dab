"""Wait until the relay has published what the sources had committed, and until SELECTs see what the
relay has published.
"""

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Final

from spark_jobs.kafka.relay_positions import Published
from spark_jobs.origin import SourceDatabase, SourcePlace, shows

POLL_INTERVAL_SECONDS: Final = 1.0


def await_published(
    databases: Mapping[str, SourceDatabase],
    places: Mapping[str, SourcePlace],
    read: Callable[[], Mapping[str, Published]],
    seconds: float,
    pause: Callable[[float], bool],
) -> Mapping[str, Published] | None:
    """Return the positions as soon as they cover these places.

    None where `seconds` ended before, or `pause` returned True.

    `read` returns the positions now. `pause` waits so many seconds and says whether to give up.
    """
    ends = monotonic() + seconds
    while True:
        published = read()
        if all(published[name].covers(databases[name], place) for name, place in places.items()):
            return published
        if monotonic() >= ends or pause(POLL_INTERVAL_SECONDS):
            return None


def await_shown(
    databases: Mapping[str, SourceDatabase],
    published: Mapping[str, Published],
    seconds: float,
    pause: Callable[[float], bool],
) -> bool:
    """Wait until SELECTs of the sources see all that is published there.

    False when they do not after so many seconds.

    A transaction is in the binlog before SELECTs see it: seconds, behind semi-synchronous
    replication. `pause` as above.
    """
    ends = monotonic() + seconds
    while not all(shows(databases[name], each.gtid_set) for name, each in published.items()):
        if monotonic() >= ends or pause(POLL_INTERVAL_SECONDS):
            return False
    return True
