"""Lookups of a row's transaction: the server answers them once its SELECTs see that transaction."""

from relay.errors import LookupUnreachable
from relay.model.change import TransactionBegin
from relay.source import Visibility


def wait_for_lookups(visibility: Visibility, begin: TransactionBegin | None) -> None:
    """Wait until SELECTs see the open transaction, or an answer could be older than the row that it
    is for.

    Raises LookupUnreachable when that takes too long for an open Kafka transaction, and what keeps
    the source from answering.
    """
    if begin is None or visibility.wait_for(begin.position, begin.gtid):
        return
    raise LookupUnreachable(
        f"The source has logged the transaction at {begin.position} and does not show it to "
        f"SELECTs yet; a commit that waits for a "
        "semi-synchronous replica does that."
    )
