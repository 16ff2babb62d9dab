"""Rows of an XA transaction that are gone take no order keys: a replay over them stops."""

from types import SimpleNamespace
from typing import Any

import pytest

from relay.errors import PreparedUnknown
from relay.model.change import XaAction, XaStep
from relay.model.positions.position import BinlogPosition
from relay.pipeline.checkpoint.skip_policy import SkipReason
from relay.pipeline.publishing.xa_publisher import XaPublisher


class Prepared:
    """The records of a transaction that was committed and published before."""

    def in_memory(self, _: str) -> bool:
        return True

    def rows(self, step: XaStep) -> Any:
        raise PreparedUnknown(f"{step.xid} was prepared before.")

    def is_skipped(self, _: XaStep) -> bool:
        return False

    def forgotten(self, _: str) -> list[Any]:
        return []


def publisher(reason: SkipReason | None, *, replays: bool) -> XaPublisher:
    record = SimpleNamespace(replay=object() if replays else None)
    progress = SimpleNamespace(record=record, skip_reason=reason, items=0, to_skip=0)
    checkpoint: Any = SimpleNamespace(progress=progress)
    prepared: Any = Prepared()
    rows: Any = SimpleNamespace(copies=None)
    return XaPublisher(prepared, rows, checkpoint)


COMMIT = XaStep(XaAction.COMMIT, "X'61'", BinlogPosition("b.000001", 400))


@pytest.mark.parametrize("reason", [SkipReason.BEFORE, SkipReason.SKIPPED, None])
def test_a_replay_over_rows_that_are_gone_stops(reason: SkipReason | None) -> None:
    """The next transaction began some bytes later, with a key above those of all these rows."""
    with pytest.raises(PreparedUnknown, match="order keys") as stopped:
        publisher(reason, replays=True).step(COMMIT)
    assert "has the XA PREPARE, set the position before it" in stopped.value.remedy


def test_a_transaction_that_an_operator_skips_may_be_unknown() -> None:
    publisher(SkipReason.SKIPPED, replays=False).step(COMMIT)
    with pytest.raises(PreparedUnknown):
        publisher(None, replays=False).step(COMMIT)
