"""Errors after which the instance aborts its batch and reads again."""

from collections.abc import Iterable

from relay.errors.base import RelayError


class NamesUnknown(RelayError):
    """A table map without column names does not match the known columns of its table.

    table   (schema, name) of the table
    place   binlog coordinates of the rows; the reader sets it
    source  name of their source in a group, "" for a single one; the reader sets it
    """

    code = "NAMES_UNKNOWN"
    remedy = (
        "No action is needed: the relay reads the table again from the source's catalogue, and "
        "stops where that is ambiguous."
    )

    def __init__(self, reason: str, *, table: tuple[str, str]) -> None:
        super().__init__(reason)
        self.table = table
        self.place = ""
        self.source = ""


class RolledBackRows(RelayError):
    """Rows of a transaction in the binlog were rolled back on the source.

    `ranges` are tuples (binlog file, offset of the transaction's first event, number of the first
    row event, number after the last row event). Row events are numbered from 0 in their
    transaction. `source` is the name of the source in a group, "" for a single one.
    """

    code = "ROWS_ROLLED_BACK"
    remedy = (
        "No action is needed: the relay aborts and reads the transaction again without those rows."
    )

    def __init__(
        self, reason: str, ranges: Iterable[tuple[str, int, int, int]], *, source: str = ""
    ) -> None:
        super().__init__(reason)
        self.ranges = tuple(ranges)
        self.source = source


class BatchAborted(RelayError):
    """The Kafka transaction was aborted; nothing of it is visible, and the position is read
    again.
    """

    code = "BATCH_ABORTED"
    remedy = "No action is needed: the relay continues from the committed position."


class TransactionUnread(BatchAborted):
    """A part of a transaction is due for publishing before the transaction was read to its end."""

    code = "TRANSACTION_UNREAD"
    remedy = (
        "No action is needed: the relay publishes the transactions before this one, reads it to "
        "its end, and then publishes it in parts."
    )


class SwitchingSource(BatchAborted):
    """The instance switches to another server of the source."""

    code = "SWITCHING_SOURCE"
    remedy = (
        "No action is needed: the relay proves that the other server has the published "
        "transactions, and continues there."
    )


class GoesToSpool(BatchAborted):
    """Events waited too long in memory for Kafka: from now on the instance reads into the spool and
    publishes from it.
    """

    code = "GOES_TO_SPOOL"
    remedy = (
        "The instance continues without an operator. Check whether Kafka's brokers are slow or "
        "unreachable."
    )


class SpoolUnusable(BatchAborted):
    """The spool on disk cannot be written or read; the instance continues without it."""

    code = "SPOOL_UNUSABLE"
    remedy = (
        "Give the relay's user a separate folder with spooling.limit_bytes of free space. The "
        "relay tries again by itself."
    )
