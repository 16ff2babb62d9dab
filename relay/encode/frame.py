"""The parts of a message besides its rows: times, GTID, batch and coordinates. They are the same
for all rows of an event.
"""

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

import orjson

from relay.model.positions.position import OrderPair

_FRAME: Final = b'"es":%d,"gtid":%b,"id":%d'


class EventCoordinates(NamedTuple):
    """Where an event was read: the server, its binlog file, and the offset there."""

    server_id: int
    file: str
    offset: int


NO_COORDINATES: Final = EventCoordinates(0, "", 0)
"""For rows that are in no binlog, and for formats whose messages contain no coordinates."""


class RowNumber(NamedTuple):
    """The number of a published row in its source transaction, from 1 on.

    id                     the transaction, as in its BEGIN and END messages
    total_order            number among the rows of all tables
    data_collection_order  number among the rows of its logical table
    """

    id: str
    total_order: int
    data_collection_order: int


NumberOf: TypeAlias = Callable[[OrderPair], RowNumber]
"""Maps the order key of the next published row to its number."""


class MessageFrame:
    """The parts of a message besides its rows.

    event_time_ms    time in the event's header; Unix milliseconds
    batch            number of the Kafka transaction
    publish_time_ms  the relay's clock; Unix milliseconds
    coordinates      where the event was read, for formats that print it
    snapshot         whether the rows come from a SELECT and not from a binlog
    number_of        numbers the rows of the source transaction; None for rows of a SELECT, and
                     without a topic of transactions
    copied_row       identifies the row of a SELECT that is encoded next; its columns do not,
                     because rows of several real tables may be equal
    """

    __slots__ = (
        "coordinates",
        "copied_row",
        "event_time_ms",
        "gtid",
        "middle",
        "number_of",
        "publish_time",
        "publish_time_ms",
        "snapshot",
    )

    def __init__(
        self,
        *,
        event_time_ms: int,
        gtid: str,
        batch: int,
        publish_time_ms: int,
        coordinates: EventCoordinates = NO_COORDINATES,
        snapshot: bool = False,
        number_of: NumberOf | None = None,
    ) -> None:
        self.middle = _FRAME % (event_time_ms, orjson.dumps(gtid), batch)
        self.publish_time = b"%d" % publish_time_ms
        self.event_time_ms = event_time_ms
        self.gtid = gtid
        self.publish_time_ms = publish_time_ms
        self.coordinates = coordinates
        self.snapshot = snapshot
        self.number_of = number_of
        self.copied_row = b""
