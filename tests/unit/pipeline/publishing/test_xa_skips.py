"""XA transactions whose PREPARE or COMMIT an operator skips, and a restart after their last row."""

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import orjson
import pytest

from relay.decode import RowDecoder
from relay.errors import PreparedUnknown
from relay.kafka import Record
from relay.model.change import (
    PreparedRows,
    StreamItem,
    TransactionBegin,
    TransactionEnd,
    XaAction,
    XaStep,
)
from relay.model.message import OutboundMessage
from relay.model.positions.position import BinlogPosition
from relay.model.records.position_record import PositionRecord, Replay, SplitProgress
from relay.pipeline.buffer import Chunk
from tests.support.rows.publishers import SentMessages, publisher_without_servers
from tests.unit.decode.event_bytes import UPDATE_V2, raw_rows, rows_body
from tests.unit.pipeline.publishing.test_skipped_keys import (
    MAPPING,
    SERVER,
    START,
    TABLE,
    Audited,
    row,
)

DECODER = RowDecoder()
XID = "X'61',X'',1"
XA_TOPIC = "xa"
ROWS = 20
PREPARE_GTID, COMMIT_GTID, LAST_GTID = "0-1-1", "0-1-2", "0-1-3"


class KeptBeside(Audited):
    """The topic of prepared transactions, which outlives the publisher."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[tuple[bytes, bytes | None]] = []

    def ensure_topic(self) -> bool:
        return False

    def ends(self) -> tuple[int, int]:
        return 0, len(self.log)

    def between(self, first: int, end: int) -> Generator[Record, None, None]:
        yield from ((offset, *self.log[offset]) for offset in range(first, end))

    def message(self, record: Any, value: Any = "") -> OutboundMessage:
        if isinstance(record, bytes):
            return OutboundMessage(XA_TOPIC, 0, record, value, ())
        return super().message(record)


class Kafka(SentMessages):
    """What is committed: messages of rows, and those of prepared transactions."""

    def __init__(self, around: KeptBeside) -> None:
        super().__init__()
        self._around = around
        self._committed = 0

    def commit(self, record: OutboundMessage) -> Any:
        answer = super().commit(record)
        new = self.messages[self._committed :]
        self._around.log += [
            (each.key or b"", each.value) for each in new if each.topic == XA_TOPIC
        ]
        self._committed = len(self.messages)
        return answer

    @property
    def visible(self) -> list[str]:
        return [
            orjson.loads(each.value or b"")["data"][0]["id"]
            for each in self.messages[: self._committed]
            if each.topic == "shop"
        ]


def group(gtid: str, *items: StreamItem) -> list[StreamItem]:
    begin = BinlogPosition("b.000001", 100 * int(gtid[-1]))
    end = begin._replace(offset=begin.offset + 10)
    return [
        TransactionBegin(begin, gtid, None, 1_767_225_600),
        *items,
        TransactionEnd(end, gtid, SERVER),
    ]


def step(action: XaAction) -> XaStep:
    return XaStep(action, XID, BinlogPosition("b.000001", 150))


def prepared_rows(first: int) -> PreparedRows:
    """Updates that change the key: each takes two order keys."""
    images = [row(each) for key in range(first, first + ROWS) for each in (key, key + 1000)]
    raw = raw_rows(TABLE.map_body(), rows_body(2, *images, kind=UPDATE_V2))
    raw = raw._replace(type_code=UPDATE_V2, position=BinlogPosition("b.000001", 120))
    return PreparedRows(raw, DECODER.open(raw).table)


PREPARED = group(
    PREPARE_GTID,
    step(XaAction.BEGIN),
    prepared_rows(0),
    prepared_rows(ROWS),
    step(XaAction.PREPARE),
)
COMMITTED = group(COMMIT_GTID, step(XaAction.COMMIT))
AT_ONCE = group(
    PREPARE_GTID,
    step(XaAction.BEGIN),
    prepared_rows(0),
    prepared_rows(ROWS),
    step(XaAction.COMMIT_AT_ONCE),
)
LAST = group(LAST_GTID, DECODER.open(prepared_rows(100).raw))
ALL_KEYS = [*range(2 * ROWS), *range(1000, 1000 + 2 * ROWS)]
LAST_KEYS = [*range(100, 100 + ROWS), *range(1100, 1100 + ROWS)]


class Walk:
    """Sessions of one instance, one after the other, from a record on."""

    def __init__(self, *skips: str, record: PositionRecord = START) -> None:
        self.around = KeptBeside()
        self.record = replace(record, skips=skips)
        self._kafka: list[Kafka] = []

    def session(self, *items: StreamItem, part: bool = False) -> None:
        """Publish items and commit them; `part`: inside of a transaction."""
        kafka = Kafka(self.around)
        publisher = publisher_without_servers(
            self.record, kafka, MAPPING, {"shop": 1}, surroundings=self.around
        )
        self._kafka.append(kafka)
        publisher.take(Chunk([*items]))
        if part:
            publisher.checkpoint.commit_part()
        else:
            publisher.checkpoint.commit_open()
        self.record = publisher.progress.record

    @property
    def visible(self) -> list[int]:
        return sorted(int(each) for kafka in self._kafka for each in kafka.visible)

    @property
    def skipped_rows(self) -> list[int]:
        """Of each entry of the audit trail."""
        return [
            each.after["rows"]
            for each in self.around.entries
            if not isinstance(each, PositionRecord)
        ]

    @property
    def kept(self) -> dict[bytes, bytes]:
        """The records of prepared transactions that are left."""
        return {key: value for key, value in dict(self.around.log).items() if value is not None}


def plain() -> Walk:
    walk = Walk()
    walk.session(*PREPARED, *COMMITTED, *LAST)
    return walk


@pytest.mark.parametrize("restarts", [False, True])
def test_a_skipped_prepare_publishes_nothing_at_its_commit(restarts: bool) -> None:
    walk = Walk(PREPARE_GTID)
    if restarts:
        walk.session(*PREPARED)
        assert walk.skipped_rows == [2 * ROWS]
        walk.session(*COMMITTED, *LAST)
    else:
        walk.session(*PREPARED, *COMMITTED, *LAST)
    assert walk.visible == LAST_KEYS
    assert walk.skipped_rows == [2 * ROWS]
    assert walk.record.skips == ()
    assert walk.record.order == plain().record.order, "later rows keep their keys"
    assert walk.kept == {}


def test_a_prepare_that_is_read_again_without_the_skip_is_published() -> None:
    walk = Walk(PREPARE_GTID)
    walk.session(*PREPARED)
    walk.record = replace(START, skips=())
    walk.session(*PREPARED)
    walk.session(*COMMITTED)
    assert walk.visible == sorted(ALL_KEYS)
    assert walk.kept == {}


def test_a_move_back_to_between_a_skipped_prepare_and_its_commit_publishes_the_rows() -> None:
    """The relay reads the PREPARE again, from a record before it: the skip is passed by then."""
    walk = Walk()
    commit, end = COMMITTED[0], LAST[-1]
    assert isinstance(commit, TransactionBegin)
    assert isinstance(end, TransactionEnd)
    replay = Replay(commit.position, end.position, plain().record.order)
    walk.record = replace(START, replay=replay)
    walk.session(*PREPARED, *COMMITTED, *LAST)
    assert walk.visible == sorted([*ALL_KEYS, *LAST_KEYS])
    assert walk.record.order == plain().record.order


def test_a_skipped_commit_publishes_nothing_and_keeps_nothing() -> None:
    walk = Walk(COMMIT_GTID)
    walk.session(*PREPARED, *COMMITTED, *LAST)
    assert walk.visible == LAST_KEYS
    assert walk.skipped_rows == [2 * ROWS]
    assert walk.record.order == plain().record.order
    assert walk.kept == {}


def test_rows_of_a_prepare_and_a_commit_that_are_both_skipped_count_once() -> None:
    walk = Walk(PREPARE_GTID, COMMIT_GTID)
    walk.session(*PREPARED, *COMMITTED, *LAST)
    assert walk.visible == LAST_KEYS
    assert walk.skipped_rows == [2 * ROWS, 0]
    assert walk.record.order == plain().record.order


def test_a_skipped_transaction_of_one_phase_counts_once() -> None:
    walk = Walk(PREPARE_GTID)
    walk.session(*AT_ONCE)
    assert (walk.visible, walk.skipped_rows, walk.kept) == ([], [2 * ROWS], {})


@pytest.mark.parametrize("items", [[*PREPARED, *COMMITTED], AT_ONCE])
def test_a_restart_between_the_last_row_and_the_end_finds_the_rows(
    items: list[StreamItem],
) -> None:
    """The last part holds all rows, and the end of the group is in the next batch."""
    walk = Walk()
    walk.session(*items[:-1], part=True)
    assert walk.visible == sorted(ALL_KEYS)
    begin = items.index(next(each for each in items[::-1] if isinstance(each, TransactionBegin)))
    walk.session(*items[begin:])
    assert walk.visible == sorted(ALL_KEYS), "nothing twice"
    assert walk.record.split is None
    assert walk.kept == {}


@pytest.mark.parametrize("skips", [(), (COMMIT_GTID,)])
def test_a_part_whose_rows_are_gone_names_the_way_forward(skips: tuple[str, ...]) -> None:
    """A former version removed the rows with the last part. The keys of its rows are unknown."""
    split = SplitProgress(
        BinlogPosition("b.000001", 200), COMMIT_GTID, 2 * ROWS, 1_767_225_600_000, 1, ""
    )
    walk = Walk(*skips, record=replace(START, split=split))
    with pytest.raises(PreparedUnknown, match="part of its rows is already published") as stopped:
        walk.session(*COMMITTED)
    assert "after this transaction" in str(stopped.value)
