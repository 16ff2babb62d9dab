"""Rows of several sources go through one publisher, each by the table map, the position and the
GTIDs of its own source.
"""

from collections.abc import Iterator

import orjson

from relay.decode import RowDecoder
from relay.model.change import FromSource, Statement, StreamItem, TransactionBegin, TransactionEnd
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import OtherSource, PositionRecord
from relay.pipeline.buffer import Chunk
from tests.support.rows.publishers import SentMessages, publisher_without_servers
from tests.unit.decode.event_bytes import WrittenColumn, WrittenTable, image, raw_rows, rows_body
from tests.unit.route.mappings import documents, router

IDENTITIES = {"first": SourceIdentity("", 1, 7), "second": SourceIdentity("", 2, 900)}
STARTS = {
    name: SourcePosition(BinlogPosition(f"b.{each.file_created_s:06}", 4), "", each)
    for name, each in IDENTITIES.items()
}
RECORD = PositionRecord(
    STARTS["first"],
    OrderPair(0, 0),
    epoch=0,
    change_time_ms=0,
    following="first",
    others={"second": OtherSource(STARTS["second"])},
)
MAPPING = router(
    documents(
        dbs=[{"logicDb": "shop", "realDbs": "shop"}], topics=[{"logicDb": "shop", "topic": "shop"}]
    )
)
NUMBER = 3  # the type LONG
COLUMNS = {"first": ("id", "a"), "second": ("b", "id")}
TABLES = {
    name: WrittenTable(
        [WrittenColumn(NUMBER, name=each) for each in names],
        primary_key=(names.index("id"),),
        table="orders",
    )
    for name, names in COLUMNS.items()
}
DECODERS = {name: RowDecoder() for name in COLUMNS}


def transaction(source: str, number: int, *changes: dict[str, int] | str) -> Iterator[StreamItem]:
    """Rows of the source's table, or statements."""
    begin = STARTS[source].binlog._replace(offset=100 * number)
    yield TransactionBegin(begin, f"0-{IDENTITIES[source].server_id}-{number}", None, 1_767_225_600)
    for at, change in enumerate(changes, 1):
        place = begin._replace(offset=begin.offset + at)
        if isinstance(change, str):
            yield Statement(change, "shop", 1_767_225_600, place)
            continue
        values = [change[each].to_bytes(4, "little") for each in COLUMNS[source]]
        yield DECODERS[source].open(
            raw_rows(TABLES[source].map_body(), rows_body(2, image(values)))._replace(
                position=place
            )
        )
    yield TransactionEnd(
        begin._replace(offset=begin.offset + 99),
        f"0-{IDENTITIES[source].server_id}-{number}",
        IDENTITIES[source],
    )


def walked(*items: StreamItem) -> tuple[list[dict[str, str]], PositionRecord]:
    producer = SentMessages()
    publisher = publisher_without_servers(RECORD, producer, MAPPING, {"shop": 1}, IDENTITIES)
    publisher.take(Chunk([*items]))
    publisher.checkpoint.commit_if_due(idle=True)
    record = publisher.progress.record
    return [
        orjson.loads(each.value or b"")["data"][0]
        for each in producer.messages
        if each.topic == "shop"
    ], record


def test_tables_of_one_name_are_those_of_their_source_however_the_sources_take_turns() -> None:
    turns = ["first", "second", "first", "first", "second", "second", "first"]
    items: list[StreamItem] = []
    expected: list[dict[str, str]] = []
    for number, source in enumerate(turns, 1):
        row = {each: 10 * number + at for at, each in enumerate(COLUMNS[source])}
        items += [FromSource(source), *transaction(source, number, row, row)]
        expected += [{name: str(value) for name, value in row.items()}] * 2
        if number == 4:
            items += transaction(source, 50, "ALTER TABLE orders COMMENT 'x'")
    rows, record = walked(*items)
    assert rows == expected
    assert {name: (str(at.binlog), at.gtid_set) for name, at in record.positions.items()} == {
        "first": ("b.000007:799", "0-1-7"),
        "second": ("b.000900:699", "0-2-6"),
    }
    assert record.order.execute_position > RECORD.order.execute_position


def test_a_source_without_items_keeps_its_position() -> None:
    _, record = walked(FromSource("second"), *transaction("second", 1, {"id": 1, "b": 2}))
    assert record.following == "second"
    assert record.positions["first"] == STARTS["first"]
    assert PositionRecord.from_bytes(record.to_bytes()) == record
