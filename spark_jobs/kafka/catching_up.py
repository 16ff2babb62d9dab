"""Waits until the relay has published the sources' committed transactions, and until SELECTs see
the published ones.
"""

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Final

from spark_jobs.kafka.relay_positions import Published
from spark_jobs.origin import SourceCoordinates, SourceDatabase, shows

POLL_INTERVAL_SECONDS: Final = 1.0


def await_published(
    databases: Mapping[str, SourceDatabase],
    places: Mapping[str, SourceCoordinates],
    read: Callable[[], Mapping[str, Published]],
    seconds: float,
    pause: Callable[[float], bool],
) -> Mapping[str, Published] | None:
    """Wait until the instances have published everything up to the given coordinates, and return
    their positions then.

    places   source → coordinates that must be published
    read     returns the present positions
    seconds  largest time to wait
    pause    waits the given seconds and returns whether to give up

    Returns None if the time has passed or `pause` returned True.
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
    """Wait until SELECTs of the sources see all published transactions. Return False if that takes
    longer than `seconds`, or if `pause` returned True.

    A transaction is in the binlog before SELECTs see it: seconds earlier with semi-synchronous
    replication. `pause` waits the given seconds and returns whether to give up.
    """
    ends = monotonic() + seconds
    while not all(shows(databases[name], each.gtid_set) for name, each in published.items()):
        if monotonic() >= ends or pause(POLL_INTERVAL_SECONDS):
            return False
    return True
