"""Finds out whether a relay still leads an instance after an error."""

import threading
from typing import Final

from relay.errors import Unreachable
from relay.ha import Election

_POLL_INTERVAL_SECONDS: Final = 0.2


def confirmed(election: Election) -> bool | None:
    """Return whether this relay leads, by a synced read from ZooKeeper; None if ZooKeeper does not
    answer.
    """
    try:
        return election.leads_synced()
    except Unreachable:
        return None


def still_leads(election: Election, stop: threading.Event) -> bool | None:
    """Return whether this relay leads. If the connection is lost, first wait as long as the session
    can continue.

    None if ZooKeeper did not answer in that time. Call it before an error is treated as one of this
    relay. After a long pause, a new leader may have caused the first errors (server_id in use,
    newer history). If this relay then opened its next producer, it would fence the new leader.
    """
    while election.undecided and not stop.wait(_POLL_INTERVAL_SECONDS):
        continue
    return confirmed(election) if election.leads(for_certain=True) else election.leads()
