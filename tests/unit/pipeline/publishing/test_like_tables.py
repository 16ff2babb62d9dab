"""A publisher notes which published table an unmapped one resembles, under the active mapping."""

from relay.decode import RowDecoder
from relay.model.change import RowsEvent, TransactionBegin, TransactionEnd
from relay.model.names.column_likeness import NOTHING_ALIKE, LikeTable
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import PositionRecord
from relay.model.table import TableId
from relay.pipeline.buffer import Chunk
from tests.support.rows.publishers import SentMessages, publisher_without_servers
from tests.unit.decode.event_bytes import (
    WrittenColumn,
    WrittenTable,
    image,
    raw_rows,
    rows_body,
)
from tests.unit.route.mappings import documents, router

SERVER = SourceIdentity("", 1, 1)
AT = BinlogPosition("b.000001", 200)
START = PositionRecord(
    SourcePosition(BinlogPosition("b.000001", 4), "", SERVER),
    OrderPair(0, 0),
    epoch=3,
    change_time_ms=0,
)
MAPPING = router(
    documents(
        dbs=[{"logicDb": "shop", "realDbs": "shop_01"}],
        tbs=[{"logicTb": "orders", "realTbs": "orders_1"}],
        topics=[{"logicDb": "shop", "topic": "shop"}],
    ),
    unmapped_table="drop",
)


def inserted(table: str, *columns: str, database: str = "shop_01") -> RowsEvent:
    written = WrittenTable(
        [WrittenColumn(3, name=each, nullable=False) for each in columns],
        primary_key=(0,),
        database=database,
        table=table,
    )
    row = image([bytes(4)] * len(columns))
    return RowDecoder().open(raw_rows(written.map_body(), rows_body(len(columns), row)))


def test_a_left_out_table_with_the_columns_of_a_published_one_is_noted() -> None:
    publisher = publisher_without_servers(
        START,
        SentMessages(),
        MAPPING,
        {"shop": 1},
        routing={"unmapped_table": "drop"},
        filter={"filter_regex": r"shop_0[12]\..*"},
    )
    events = [
        inserted("orders_2027", "id", "state", "price"),
        inserted("orders_1", "id", "state", "price"),
        inserted("other", "id", "a", "b"),
        inserted("orders_1", "id", "state", "price", database="shop_02"),
        inserted("orders_1", "id", "state", "price", database="filtered"),
    ]
    begin = TransactionBegin(AT, "0-1-1", None, 1_767_225_600)
    end = TransactionEnd(AT._replace(offset=210), "0-1-1", SERVER)
    publisher.take(Chunk([begin, *events, end]))
    of = publisher.stats.likeness.of
    like = LikeTable("shop.orders", 3, 3)
    assert of(TableId("shop_01", "orders_2027")) == like
    assert of(TableId("shop_02", "orders_1")) == like
    assert of(TableId("shop_01", "other")) is NOTHING_ALIKE
    assert of(TableId("filtered", "orders_1")) is NOTHING_ALIKE
