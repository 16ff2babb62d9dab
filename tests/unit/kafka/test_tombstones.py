"""What a failed attempt to write tombstones leaves behind."""

from typing import Any
from unittest.mock import Mock

import pytest

from relay.errors import BrokerUnreachable
from relay.kafka import Tombstone, TombstoneProducer
from relay.settings import KafkaSettings


class Failing(TombstoneProducer):
    """The topic cannot be read after the tombstones are in it."""

    def __init__(self) -> None:
        super().__init__(KafkaSettings(bootstrap_servers="unused:9092"), Mock())
        self.client = Mock()

    def _ready_producer(self, _topic: str) -> Any:
        return self.client

    def _produced(self, *_: Any) -> dict[int, list[int]]:
        return {0: [7]}

    def _unused(self, _topic: str, tombstones: Any, _searched: Any, places: Any) -> Any:
        if places:
            raise BrokerUnreachable("Partition 0 of shop sent no record for 30 s.")
        return tombstones


def test_an_error_after_the_first_tombstone_leaves_no_open_transaction() -> None:
    writing = Failing()
    with pytest.raises(BrokerUnreachable):
        writing.write("shop", [Tombstone(0, b'["shop.client","7"]')], {0: 1})
    names = [each[0] for each in writing.client.method_calls]
    assert names == ["begin_transaction", "abort_transaction"]
