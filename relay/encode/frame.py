"""What a message says besides its rows: times, GTID and batch, the same for all rows of an
event.
"""

from typing import Final

import orjson

_FRAME: Final = b'"es":%d,"gtid":%b,"id":%d'


class MessageFrame:
    """`event_time_ms` is the raw header time, `batch` counts Kafka transactions, `publish_time_ms`
    is the relay's clock.
    """

    __slots__ = ("middle", "publish_time")

    def __init__(self, *, event_time_ms: int, gtid: str, batch: int, publish_time_ms: int) -> None:
        self.middle = _FRAME % (event_time_ms, orjson.dumps(gtid), batch)
        self.publish_time = b"%d" % publish_time_ms
