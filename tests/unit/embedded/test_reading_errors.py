"""What a program gets that continues after the error of the reading."""

from collections.abc import Iterator
from itertools import islice
from types import SimpleNamespace

import pytest

from relay.embedded import EmbeddedChanges, EmbeddedSettings, PositionCallbacks
from relay.embedded.local_producer import Batch
from relay.errors import BinlogPurged
from relay.model.message import OutboundMessage
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import PositionRecord
from relay.settings import checked_settings
from relay.testing import MessageMaker

SOURCE = {"host": "127.0.0.1", "user": "u", "password": "p", "server_id": 7}


def batch() -> Batch:
    made = MessageMaker("shop", "t", {"id": "int"}, ["id"]).insert({"id": "1"})
    message = OutboundMessage(made.topic, 0, made.key, made.value, tuple(made.headers))
    identity = SourceIdentity("one", 1, 0)
    source = SourcePosition(BinlogPosition("binlog.000001", 4), "", identity)
    return Batch([message], PositionRecord(source, OrderPair(0, 1), 0, 0).to_bytes(), ())


@pytest.mark.parametrize(
    "error", [BinlogPurged("The file binlog.000001 is gone."), KeyboardInterrupt()]
)
def test_each_later_call_raises_the_error_that_ended_the_reading(
    monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    """A call that returned nothing at once would be taken for a quiet source."""

    def batches() -> Iterator[Batch | None]:
        yield None
        yield batch()
        raise error

    monkeypatch.setattr(
        "relay.embedded.changes.SourceReading", lambda *_: SimpleNamespace(batches=batches)
    )
    settings = checked_settings(
        EmbeddedSettings, {"source": SOURCE, "tables": ("shop.t",)}, "embedded.open", "arguments"
    )
    saved: list[bytes] = []
    store = PositionCallbacks(lambda: None, saved.append)
    with EmbeddedChanges(settings, store) as changes:
        assert [each.after for each in changes.take(10)] == [{"id": 1}]
        changes.ack()
        for _ in range(2):
            with pytest.raises(type(error)) as told:
                changes.take(10, 0.1)
            assert told.value is error
        with pytest.raises(type(error)):
            next(islice(changes, 1))
        changes.close()
        assert changes.take(10) == [], "a closed reading has ended without an error"
    assert len(saved) == 1
