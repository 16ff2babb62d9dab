"""How long ago a position was written is no matter of the wall clock."""

import pytest

from relay.model.change import Advance
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import PositionRecord
from relay.pipeline.buffer import Chunk
from relay.pipeline.checkpoint import checkpoint as module
from relay.pipeline.checkpoint.commit_policy import POSITION_SECONDS
from tests.support.rows.publishers import SentMessages, publisher_without_servers
from tests.unit.route.mappings import documents, router

IDENTITY = SourceIdentity("", 1, 0)
RECORD = PositionRecord(
    SourcePosition(BinlogPosition("b.1", 4), "", IDENTITY),
    OrderPair(0, 0),
    epoch=0,
    change_time_ms=0,
)


@pytest.mark.parametrize("set_by_s", [-3600.0, 0.0, 3600.0])
def test_a_position_that_moved_is_written_after_its_time_wherever_the_clock_is_set(
    monkeypatch: pytest.MonkeyPatch, set_by_s: float
) -> None:
    wall_s, running_s = 1_767_225_600.0, 1000.0
    monkeypatch.setattr(module, "time", lambda: wall_s)
    monkeypatch.setattr(module, "monotonic", lambda: running_s)
    producer = SentMessages()
    publisher = publisher_without_servers(RECORD, producer, router(documents()), {})
    publisher.take(Chunk([Advance(BinlogPosition("b.1", 900), IDENTITY)]))
    wall_s, running_s = wall_s + set_by_s + POSITION_SECONDS - 1, running_s + POSITION_SECONDS - 1
    publisher.checkpoint.commit_if_due(idle=True)
    assert len(producer.messages) == 0
    wall_s, running_s = wall_s + 1, running_s + 1
    publisher.checkpoint.commit_if_due(idle=True)
    assert len(producer.messages) == 1
