"""Rows that are skipped or read again take as many order keys as published ones: transactions after
them keep theirs.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from relay.decode import RowDecoder
from relay.errors import FormatsDiffer, PartitionsDiffer, RelayError
from relay.model.change import RowsEvent, StreamItem, TransactionBegin, TransactionEnd
from relay.model.message import OutboundMessage
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import PositionRecord, Replay, SplitProgress
from relay.pipeline.buffer import Chunk
from relay.pipeline.messages.table_plans import TablePlans
from relay.pipeline.publishing.publisher import Publisher
from tests.support.rows.publishers import SentMessages, Surroundings, publisher_without_servers
from tests.unit.decode.event_bytes import (
    UPDATE_V2,
    WrittenColumn,
    WrittenTable,
    image,
    raw_rows,
    rows_body,
)
from tests.unit.route.mappings import documents, router

SERVER = SourceIdentity("", 1, 1)
START = PositionRecord(
    SourcePosition(BinlogPosition("b.000001", 4), "", SERVER),
    OrderPair(0, 0),
    epoch=3,
    change_time_ms=0,
)
TABLE = WrittenTable(
    [WrittenColumn(3, name="id", nullable=False), WrittenColumn(3, name="n")], primary_key=(0,)
)
MAPPING = router(
    documents(
        dbs=[{"logicDb": "shop", "realDbs": "shop"}], topics=[{"logicDb": "shop", "topic": "shop"}]
    )
)
GTID = "0-1-1"
BEGIN = BinlogPosition("b.000001", 200)
UPDATES = 50


def row(key: int, n: int = 0) -> bytes:
    return image([key.to_bytes(4, "little"), n.to_bytes(4, "little")])


def changed_keys(first: int = 0) -> RowsEvent:
    """Updates of which all change the key, at one offset as in a compressed transaction."""
    images = [row(each) for key in range(first, first + UPDATES) for each in (key, key + 1000)]
    raw = raw_rows(TABLE.map_body(), rows_body(2, *images, kind=UPDATE_V2))
    return RowDecoder().open(raw._replace(type_code=UPDATE_V2, position=BEGIN))


def transaction(*events: RowsEvent) -> Iterator[StreamItem]:
    yield TransactionBegin(BEGIN, GTID, None, 1_767_225_600)
    yield from events
    yield TransactionEnd(BEGIN._replace(offset=210), GTID, SERVER)


class Audited(Surroundings):
    """Keeps the entries of the audit trail."""

    def __init__(self) -> None:
        super().__init__(MAPPING, {"shop": 1})
        self.entries: list[Any] = []

    def message(self, record: Any) -> OutboundMessage:
        self.entries.append(record)
        return super().message(record)


def walked(record: PositionRecord, around: Surroundings, **settings: Any) -> Publisher:
    publisher = publisher_without_servers(
        record, SentMessages(), MAPPING, {"shop": 1}, surroundings=around, **settings
    )
    publisher.take(Chunk([*transaction(changed_keys(), changed_keys(UPDATES))]))
    return publisher


SKIPPED = replace(START, skips=(GTID,))
REPLAYED = replace(
    START,
    replay=Replay(BEGIN._replace(offset=210), BEGIN._replace(offset=900), OrderPair(9**15, 0)),
)


@pytest.mark.parametrize("record", [SKIPPED, REPLAYED])
@pytest.mark.parametrize("key_change", ["split", "canal"])
def test_updates_that_change_keys_take_as_many_as_published_ones(
    record: PositionRecord, key_change: str
) -> None:
    settings = {"message": {"key_change": key_change}}
    published = walked(START, Audited(), **settings).progress.order.execute_position
    left_out = walked(record, Audited(), **settings).progress.order.execute_position
    each = 2 if key_change == "split" else 1
    assert published & 0xFFFFFFFF == BEGIN.offset + 2 * UPDATES * each - 1
    assert left_out == published


@pytest.mark.parametrize("record", [SKIPPED, REPLAYED])
@pytest.mark.parametrize("where", ["n > 5", "id < 1000", "n >= 0"])
def test_a_row_condition_decides_alike(record: PositionRecord, where: str) -> None:
    """An update that leaves or enters the condition is a delete or an insert: one key."""
    settings = {"rules": [{"tables": ".*", "where": where}]}
    published = walked(START, Audited(), **settings).progress.order.execute_position
    assert walked(record, Audited(), **settings).progress.order.execute_position == published


@pytest.mark.parametrize("record", [SKIPPED, REPLAYED])
def test_each_row_of_a_transform_takes_its_fixed_number(
    record: PositionRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relay.refine.transform.transform_function", lambda _: nothing)
    settings: dict[str, Any] = {
        "transforms": [{"table": "shop.orders", "function": "f", "most_changes": 3}]
    }
    published = walked(START, Audited(), **settings).progress.order.execute_position
    assert published & 0xFFFFFFFF == BEGIN.offset + 2 * UPDATES * 6 - 1
    assert walked(record, Audited(), **settings).progress.order.execute_position == published


def nothing(*_: object) -> list[Any]:
    return []


def test_a_table_that_no_mapping_has_can_be_skipped() -> None:
    """Its rows can never have taken more than one key each."""
    strict: dict[str, Any] = {"routing": {"unmapped_db": "stop", "unmapped_table": "stop"}}
    around = Audited()
    around.router = router(documents(), **strict["routing"])
    publisher = publisher_without_servers(
        SKIPPED, SentMessages(), around.router, {"shop": 1}, surroundings=around, **strict
    )
    publisher.take(Chunk([*transaction(changed_keys())]))
    assert publisher.progress.order.execute_position & 0xFFFFFFFF == BEGIN.offset + UPDATES - 1


@pytest.mark.parametrize("error", [FormatsDiffer, PartitionsDiffer])
def test_rows_for_a_topic_that_waits_for_another_instance_can_be_skipped(
    error: type[RelayError], monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of them was published. Rows that are read again were: their number of keys must be known
    before the next row.
    """

    def waits(*_: object) -> None:
        raise error("Another instance places rows differently.")

    monkeypatch.setattr(TablePlans, "plan", waits)
    position = walked(SKIPPED, Audited()).progress.order.execute_position
    assert position & 0xFFFFFFFF == BEGIN.offset + 2 * UPDATES - 1
    with pytest.raises(error):
        walked(REPLAYED, Audited())


def test_the_audit_trail_counts_only_what_was_not_visible() -> None:
    """Of a transaction that is published in part, an operator skips the rest."""
    split = SplitProgress(BEGIN, GTID, UPDATES + 20, 1_767_225_600_000, 1, "")
    around = Audited()
    walked(replace(SKIPPED, split=split), around).checkpoint.commit_open()
    (entry,) = (each for each in around.entries if not isinstance(each, PositionRecord))
    assert entry.after["rows"] == UPDATES - 20
    assert entry.after["rows_by_table"] == {"shop.orders": UPDATES - 20}


@pytest.mark.parametrize(("items_done", "left"), [(0, 2 * UPDATES), (20, 2 * UPDATES - 20)])
def test_a_restart_inside_of_a_skipped_transaction_counts_all_its_rows(
    items_done: int, left: int
) -> None:
    """Rows that were left out before the restart are none that were visible before the skip."""
    around = Audited()
    split = SplitProgress(BEGIN, GTID, items_done, 1_767_225_600_000, 1, "")
    record = replace(SKIPPED, split=split if items_done else None)
    first = publisher_without_servers(
        record, SentMessages(), MAPPING, {"shop": 1}, surroundings=around
    )
    begin, *events, _ = transaction(changed_keys(), changed_keys(UPDATES))
    first.take(Chunk([begin, *events]))
    first.checkpoint.commit_part()
    walked(first.progress.record, around).checkpoint.commit_open()
    (entry,) = (each for each in around.entries if not isinstance(each, PositionRecord))
    assert entry.after["rows"] == left
