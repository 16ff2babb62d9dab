"""Whether a relay still leads an instance after an error."""

import threading
from typing import Final

from relay.errors import Unreachable
from relay.ha import Election

_POLL_INTERVAL_SECONDS: Final = 0.2


def confirmed(election: Election) -> bool | None:
    """Ask ZooKeeper whether this relay leads, no older than this moment; None: it does not
    answer.
    """
    try:
        return election.leads_synced()
    except Unreachable:
        return None


def still_leads(election: Election, stop: threading.Event) -> bool | None:
    """Return whether this relay leads. If the connection is lost, wait as long as the session can
    continue.

    After a long pause the first errors may be caused by the new leader (server_id in use, newer
    history): they do not concern this relay, and its next producer would fence the new leader.
    None: ZooKeeper did not answer in that time.
    """
    while election.undecided and not stop.wait(_POLL_INTERVAL_SECONDS):
        continue
    return confirmed(election) if election.leads(for_certain=True) else election.leads()
