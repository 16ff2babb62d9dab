"""BEGIN and END of source transactions: what they count, and that a takeover between two parts
neither repeats nor loses one.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.decode import RowDecoder
from relay.encode import without_number
from relay.envelope import Header, Order, parse_order, row_orders
from relay.model.change import Statement, StreamItem, TransactionBegin, TransactionEnd
from relay.model.message import OutboundMessage
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import PositionRecord, Replay
from relay.pipeline.buffer import Chunk
from relay.pipeline.checkpoint.reporting_checkpoint import ReportingCheckpoint
from relay.pipeline.messages.configuration_digest import configuration_digest
from relay.settings import InstanceSettings
from tests.support.rows.publishers import SentMessages, publisher_without_servers
from tests.unit.decode.event_bytes import (
    UPDATE_V2,
    WrittenColumn,
    WrittenTable,
    image,
    raw_rows,
    rows_body,
)
from tests.unit.route.mappings import documents, router

IDENTITY: Final = SourceIdentity("", 1, 0)
RECORD: Final = PositionRecord(
    SourcePosition(BinlogPosition("b.1", 4), "", IDENTITY), OrderPair(0, 0), 3, 0
)
REPORTS: Final = "shop.transactions"
MAPPING: Final = router(
    documents(
        dbs=[{"logicDb": "shop", "realDbs": "shop"}],
        tbs=[{"logicTb": "orders", "realTbs": "orders_0,orders_1"}],
        topics=[{"logicDb": "shop", "topic": "shop"}],
    )
)
_TABLES: Final = {
    (database, table): WrittenTable(
        [WrittenColumn(3, name="id")], primary_key=(0,), database=database, table=table
    )
    for database, table in [
        ("shop", "orders_0"),
        ("shop", "orders_1"),
        ("shop", "lines"),
        ("unmapped", "t"),
    ]
}
_DECODER: Final = RowDecoder()


def rows(table: str, *keys: int, database: str = "shop") -> StreamItem:
    images = [image([key.to_bytes(4, "little")]) for key in keys]
    return _DECODER.open(raw_rows(_TABLES[database, table].map_body(), rows_body(1, *images)))


def moved(table: str, before: int, after: int) -> StreamItem:
    images = [image([key.to_bytes(4, "little")]) for key in (before, after)]
    body = rows_body(1, *images, kind=UPDATE_V2)
    return _DECODER.open(raw_rows(_TABLES["shop", table].map_body(), body, UPDATE_V2))


def transaction(number: int, *items: StreamItem, gtid: str = "0-1-{}") -> Iterator[StreamItem]:
    name, at = gtid.format(number), 100 * number
    yield TransactionBegin(BinlogPosition("b.1", at), name, None, 1_767_225_600)
    yield from items
    yield TransactionEnd(BinlogPosition("b.1", at + 99), name, IDENTITY)


class Reader:
    """A session that ends, and the next one, which goes on from the record that was committed."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings
        self.committed: list[OutboundMessage] = []
        self.record = RECORD

    def session(self, items: Sequence[StreamItem], parts: Sequence[int] = ()) -> None:
        """Publish the items, with a part committed after each of these; the rest is committed if
        the last one ends a transaction.
        """
        sent = SentMessages()
        transaction = {"topic": "{instance}.transactions", **self.settings.get("transaction", {})}
        others = {name: each for name, each in self.settings.items() if name != "transaction"}
        publisher = publisher_without_servers(
            self.record, sent, MAPPING, {"shop": 3}, transaction=transaction, name="shop", **others
        )
        for number, item in enumerate(items):
            publisher.take(Chunk([item]))
            if number in parts:
                publisher.checkpoint.commit_part()
                self._commit(sent, publisher.progress.record)
        publisher.checkpoint.commit_if_due(idle=True)
        if publisher.progress.whole:
            self._commit(sent, publisher.progress.record)

    def _commit(self, sent: SentMessages, record: PositionRecord) -> None:
        self.committed += [each for each in sent.messages if each.topic in ("shop", REPORTS)]
        sent.messages.clear()
        self.record = PositionRecord.from_bytes(record.to_bytes())

    @property
    def reports(self) -> list[dict[str, Any]]:
        return [orjson.loads(each.value or b"") for each in self.committed if each.topic == REPORTS]

    @property
    def rows(self) -> list[OutboundMessage]:
        return [each for each in self.committed if each.topic == "shop" and each.value is not None]


def statuses(reader: Reader) -> list[tuple[str, Any]]:
    return [(each["status"], each["event_count"]) for each in reader.reports]


def check_relation(reader: Reader) -> None:
    """Each END counts the rows that name it, per logical table, and their numbers rise.

    The blocks of debezium-json number these rows without a gap.
    """
    blocks: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    seen: dict[str, dict[str, int]] = {}
    numbers: dict[str, list[int]] = {}
    published: dict[str, list[Order]] = {}
    for message in reader.rows:
        headers, value = dict(message.headers), orjson.loads(message.value or b"")
        id_ = headers[Header.TRANSACTION].decode()
        tables = seen.setdefault(id_, {})
        if "source" in value:
            name = f"{value['source']['db']}.{value['source']['table']}"
            blocks.setdefault(id_, []).append((name, value["transaction"]))
        else:
            name = f"{value['database']}.{value['table']}"
        tables[name] = tables.get(name, 0) + len(value.get("data", [None]))
        orders = row_orders(headers[Header.ORDER], headers.get(Header.ORDERS))
        before = int(headers[Header.TRANSACTION_BEFORE])
        published.setdefault(id_, []).extend(orders)
        numbers.setdefault(id_, []).extend(each.execute_position - before for each in orders)
    ends = {each["id"]: each for each in reader.reports if each["status"] == "END"}
    counted = {
        id_: {each["data_collection"]: each["event_count"] for each in end["data_collections"]}
        for id_, end in ends.items()
    }
    assert counted == seen
    for id_, numbered in blocks.items():
        check_blocks(id_, numbered)
    for id_, end in ends.items():
        assert end["event_count"] == sum(seen[id_].values()) == len(set(numbers[id_]))
        assert min(numbers[id_]) >= 1
        bounds = parse_order(end["first_order"]), parse_order(end["last_order"])
        assert bounds == (min(published[id_]), max(published[id_]))
    begun = [each["id"] for each in reader.reports if each["status"] == "BEGIN"]
    ended = [each["id"] for each in reader.reports if each["status"] == "END"]
    assert begun == ended
    assert len(set(begun)) == len(begun)


def check_blocks(id_: str, numbered: list[tuple[str, dict[str, Any]]]) -> None:
    """The blocks of a transaction's rows: by table, in the order in which they are published."""
    by_table: Counter[str] = Counter()
    for total, (table, block) in enumerate(numbered, 1):
        by_table[table] += 1
        assert block == {
            "id": id_,
            "total_order": total,
            "data_collection_order": by_table[table],
        }


def test_each_transaction_has_begin_and_end_with_its_counts() -> None:
    reader = Reader()
    reader.session(
        [
            *transaction(1, rows("orders_0", 1, 2), rows("lines", 5), rows("orders_1", 3)),
            *transaction(2, rows("lines", 6), gtid=""),
        ]
    )
    check_relation(reader)
    first_begin, first_end, second_begin, second_end = reader.reports
    assert first_begin["data_collections"] is first_begin["event_count"] is None
    assert first_end["data_collections"] == [
        {
            "data_collection": "shop.lines",
            "event_count": 1,
            "database": "shop",
            "table": "lines",
        },
        {
            "data_collection": "shop.orders",
            "event_count": 3,
            "database": "shop",
            "table": "orders",
        },
    ]
    assert first_end["id"].startswith("shop:0-1-1:")
    assert second_begin["id"].startswith("shop:b.1:200:")
    assert (second_end["file"], second_end["position"], second_end["end_position"]) == (
        "b.1",
        200,
        299,
    )
    assert {each.key for each in reader.committed if each.topic == REPORTS} == {
        orjson.dumps(["shop", each["id"]]) for each in (first_begin, second_begin)
    }


def test_a_transaction_without_a_published_row_has_neither() -> None:
    reader = Reader()
    alter = Statement("ALTER TABLE lines ADD x INT", "shop", 1, BinlogPosition("b.1", 7))
    reader.session(
        [
            *transaction(1),
            *transaction(2, rows("t", 1, database="unmapped")),
            *transaction(3, alter),
            *transaction(4, rows("t", 1, 2, database="unmapped"), rows("lines", 1)),
        ]
    )
    assert statuses(reader) == [("BEGIN", None), ("END", 1)]
    check_relation(reader)
    (row,) = reader.rows
    headers = dict(row.headers)
    number = parse_order(headers[Header.ORDER]).execute_position - int(
        headers[Header.TRANSACTION_BEFORE]
    )
    assert number == 3, "rows that are left out take numbers"


def test_a_skipped_transaction_has_neither() -> None:
    reader = Reader()
    reader.record = replace(RECORD, skips=("0-1-1",))
    reader.session([*transaction(1, rows("lines", 1)), *transaction(2, rows("lines", 2))])
    assert [each["gtid"] for each in reader.reports] == ["0-1-2", "0-1-2"]


@pytest.mark.parametrize("message", [{}, {"rows_per_message": "event"}, {"headers": "full"}])
def test_a_changed_key_counts_as_two_rows(message: dict[str, str]) -> None:
    reader = Reader(message=message)
    reader.session([*transaction(1, rows("lines", 1), moved("lines", 1, 2), rows("lines", 7))])
    assert statuses(reader)[-1] == ("END", 4)
    check_relation(reader)


def test_a_tombstone_is_no_row() -> None:
    reader = Reader(message={"tombstones": True})
    reader.session([*transaction(1, moved("lines", 1, 2))])
    assert statuses(reader) == [("BEGIN", None), ("END", 2)]
    assert any(each.value is None for each in reader.committed)


def test_blocks_of_debezium_number_rows_and_both_halves_of_a_changed_key() -> None:
    reader = Reader(message={"format": "debezium-json", "schemas": True})
    left_out = rows("t", 1, database="unmapped")
    items = rows("orders_0", 1, 2), left_out, moved("lines", 1, 2), rows("orders_1", 3)
    reader.session([*transaction(1, *items)])
    whole = [orjson.loads(each.value or b"") for each in reader.rows]
    blocks = [each["payload"]["transaction"] for each in whole]
    numbers = [(each["total_order"], each["data_collection_order"]) for each in blocks]
    assert numbers == [(1, 1), (2, 2), (3, 1), (4, 2), (5, 3)]
    assert {each["id"] for each in blocks} == {reader.reports[0]["id"]}
    fields = {each["field"]: each for each in whole[0]["schema"]["fields"]}
    block = fields["transaction"]
    assert (block["name"], block["version"], block["optional"]) == ("event.block", 1, True)
    assert [each["field"] for each in block["fields"]] == list(blocks[0])


def test_a_dead_letter_that_is_sent_later_has_no_number() -> None:
    reader = Reader(message={"format": "debezium-json"})
    reader.session([*transaction(1, rows("lines", 1))])
    (row,) = reader.rows
    numbered = orjson.loads(row.value or b"")
    assert numbered["transaction"] is not None
    assert orjson.loads(without_number(row.value or b"")) == {**numbered, "transaction": None}


def test_blocks_are_null_without_a_topic_of_transactions() -> None:
    sent = SentMessages()
    publisher = publisher_without_servers(
        RECORD, sent, MAPPING, {"shop": 3}, name="shop", message={"format": "debezium-json"}
    )
    for item in transaction(1, rows("lines", 1)):
        publisher.take(Chunk([item]))
    publisher.checkpoint.commit_if_due(idle=True)
    (row,) = [each for each in sent.messages if each.topic == "shop"]
    assert orjson.loads(row.value or b"")["transaction"] is None


def test_a_row_takes_the_number_of_a_dead_letter_before_it() -> None:
    transaction_topic = {"topic": "{instance}.transactions"}
    publisher = publisher_without_servers(
        RECORD, SentMessages(), MAPPING, {"shop": 3}, transaction=transaction_topic, name="shop"
    )
    checkpoint = publisher.checkpoint
    assert isinstance(checkpoint, ReportingCheckpoint)
    orders = [OrderPair(1, number) for number in range(3)]
    assert checkpoint.next_number(orders[0]).total_order == 1
    assert checkpoint.next_number(orders[0]).total_order == 1
    assert checkpoint.next_number(orders[1]).total_order == 2  # the other half of a changed key
    checkpoint.count_dead_letter("VALUE_NOT_PRINTABLE")
    assert checkpoint.next_number(orders[2]).total_order == 1


def test_a_reset_of_the_source_repeats_no_id() -> None:
    reader = Reader()
    reader.session([*transaction(1, rows("lines", 1))])
    reader.record = replace(RECORD, order=reader.record.order, epoch=RECORD.epoch + 1)
    reader.session([*transaction(1, rows("lines", 1))])
    check_relation(reader)


def test_a_split_transaction_names_the_next_format_only_with_its_begin() -> None:
    reader = Reader()
    items = [*transaction(1, rows("t", 1, database="unmapped"), rows("lines", 1), rows("lines", 2))]
    reader.session(items[:3], parts=[1])
    assert (reader.record.format, reader.reports) == (5, [])
    reader.session(items[:3], parts=[2])
    assert (reader.record.format, statuses(reader)) == (7, [("BEGIN", None)])
    reader.session(items)
    assert statuses(reader) == [("BEGIN", None), ("END", 2)]
    assert reader.record.split is None


_ITEMS: Final = st.lists(
    st.one_of(
        st.builds(rows, st.just("orders_0"), st.integers(1, 9), st.integers(10, 19)),
        st.builds(rows, st.just("orders_1"), st.integers(1, 9)),
        st.builds(rows, st.just("lines"), st.integers(1, 9)),
        st.builds(moved, st.just("lines"), st.integers(1, 9), st.integers(10, 19)),
        st.builds(rows, st.just("t"), st.integers(1, 9), database=st.just("unmapped")),
    ),
    min_size=1,
    max_size=6,
)


@given(
    transactions=st.lists(_ITEMS, min_size=1, max_size=3),
    message=st.sampled_from(
        [
            {},
            {"rows_per_message": "event"},
            {"row_printer": "readable"},
            {"format": "debezium-json"},
        ]
    ),
    elsewhere=st.booleans(),
    data=st.data(),
)
def test_crashes_between_parts_repeat_and_lose_nothing(
    transactions: list[list[StreamItem]],
    message: dict[str, str],
    elsewhere: bool,
    data: st.DataObject,
) -> None:
    printer = {"row_printer": message["row_printer"]} if "row_printer" in message else {}
    reader = Reader(message={} if printer else message, **printer)
    for number, items in enumerate(transactions, 1):
        whole = [*transaction(number, *items)]
        for _ in range(data.draw(st.integers(0, 3))):
            parts = data.draw(st.sets(st.integers(1, len(items))))
            reader.session(whole[: data.draw(st.integers(1, len(items) + 1))], sorted(parts))
            if elsewhere and reader.record.split is not None:  # a switch ends on another server
                reader.record = replace(reader.record, epoch=reader.record.epoch + 1)
        reader.session(whole)
    check_relation(reader)


def test_a_replay_gives_the_original_ids_again() -> None:
    items = [
        *transaction(1, rows("t", 1, database="unmapped")),
        *transaction(2, rows("lines", 1, 2)),
        *transaction(3, rows("lines", 3)),
    ]
    reader = Reader()
    reader.session(items)
    back = Replay(BinlogPosition("b.1", 300), BinlogPosition("b.1", 399), reader.record.order)
    reader.record = replace(RECORD, replay=back)
    original = reader.reports
    reader.session(items)
    again = reader.reports[len(original) :]
    assert [(each["status"], each["id"]) for each in again] == [
        (each["status"], each["id"]) for each in original[2:]
    ]


def test_the_setting_is_part_of_what_a_half_published_transaction_is_ended_under() -> None:
    fields = {"name": "x", "source": {"host": "h", "user": "u", "server_id": 7}}
    off = InstanceSettings.model_validate(fields)
    on = InstanceSettings.model_validate({**fields, "transaction": {"topic": "t"}})
    assert configuration_digest(off) != configuration_digest(on)
