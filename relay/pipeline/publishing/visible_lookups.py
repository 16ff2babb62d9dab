"""Delays lookups in the source until SELECTs on the source server show the transaction of the row
for which they are made.
"""

from relay.errors import LookupUnreachable
from relay.model.change import TransactionBegin
from relay.source import Visibility


def wait_for_lookups(visibility: Visibility, begin: TransactionBegin | None) -> None:
    """Wait until SELECTs on the source server show the open transaction.

    visibility  reads what SELECTs show
    begin       the begin of the transaction; None: no wait

    Before that, a lookup could return values that are older than the row. Raises LookupUnreachable
    if the wait takes too long for an open Kafka transaction, and the errors of the source.
    """
    if begin is None or visibility.wait_for(begin.position, begin.gtid):
        return
    raise LookupUnreachable(
        f"The source has logged the transaction at {begin.position}, and SELECTs do not show "
        "it yet. This happens while a commit waits for a semi-synchronous replica."
    )
