"""Rows whose images lack columns: what is known is published, what is not is named, and nothing is
invented.
"""

from typing import Any

import orjson
import pytest

from relay.encode import KeyEncoder, MessageFrame, PartitionTexts, RowEncoder, tag_headers
from relay.errors import RowImageIncomplete, SchemaMismatch
from relay.model.change import Operation, RowChange, RowsEvent
from relay.model.message import OutboundMessage
from relay.model.positions.position import BinlogPosition, OrderPair
from relay.model.table import Column, ColumnType, TableDefinition, TableId, TableMap
from relay.model.value import ABSENT, Row
from relay.partition import PartitionRule
from relay.pipeline.messages.packed import packed_messages
from relay.pipeline.messages.published_changes import EventContext, known_rows
from relay.pipeline.messages.row_form import RowForm, TopicRoute
from relay.pipeline.messages.single_row import row_messages
from relay.pipeline.messages.table_plan import TablePlan
from relay.route import Destination, Tags
from relay.settings import MessageSettings

NAME = TableId("shop", "users")
COLUMNS = (
    Column("id", ColumnType.LONG, nullable=False),
    Column("n", ColumnType.LONG, nullable=True),
    Column("note", ColumnType.VARCHAR, nullable=True, length=80, charset="utf8mb4"),
)
DEFINITION = TableDefinition(TableMap(NAME, COLUMNS, (0,)), (0,), ("int", "int", "varchar(20)"))
CONTEXT = EventContext(
    MessageFrame(event_time_ms=1000, gtid="", batch=1, publish_time_ms=1000), None
)
A = ABSENT
PARTIAL: dict[str, Any] = {"row_image": "partial"}


def plan(
    rule: str = "", style: Any = "exact", tags: Tags | None = None, key_change: str = "split"
) -> TablePlan:
    partitioning = PartitionRule(rule, database_hash=True, partitions=100).for_table(
        NAME, ("id", "n", "note"), (0,)
    )
    texts = PartitionTexts(DEFINITION, partitioning.ordinals)
    route = TopicRoute("t", partitioning, texts, 1_000_000)
    return TablePlan(
        definition=DEFINITION,
        destination=Destination(NAME, ("t",), tags or Tags(("users",), ())),
        forms=(RowForm((route,), RowEncoder(DEFINITION, NAME, style)),),
        keys=KeyEncoder(DEFINITION, NAME),
        tags=tag_headers(("users",)),
        split_key_change=key_change == "split",
    )


def published(
    before: Row | None, after: Row | None, table: TablePlan | None = None, **message: Any
) -> list[OutboundMessage]:
    operation = (
        Operation.INSERT
        if before is None
        else Operation.DELETE
        if after is None
        else Operation.UPDATE
    )
    event = RowsEvent(
        operation, DEFINITION.map, (RowChange(before, after),), 1000, BinlogPosition("b.1", 4), 100
    )
    settings = MessageSettings(**(PARTIAL | message))
    arguments = event, table or plan(), settings, CONTEXT, OrderPair(1, 1), 0
    made = (
        packed_messages(*arguments, 1_000_000)
        if settings.rows_per_message == "event"
        else row_messages(*arguments)
    )
    return [each for _, some in made for each in some]


def said(message: OutboundMessage) -> tuple[str, dict[str, Any], Any, Any]:
    """Type, row, former values, and what is named as unknown."""
    value = orjson.loads(message.value or b"")
    unknown = dict(message.headers).get("unknown")
    return (
        value["type"],
        value["data"][0],
        (value["old"] or [None])[0],
        None if unknown is None else orjson.loads(unknown),
    )


def unknown(data: list[str], old: list[str] | None = None) -> dict[str, list[str]]:
    return {"data": data} if old is None else {"data": data, "old": old}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        # MINIMAL
        ((1, A, A), (A, 5, A), ("UPDATE", {"id": "1", "n": "5"}, {}, unknown(["note"], ["n"]))),
        ((1, A, A), (A, None, A), ("UPDATE", {"id": "1", "n": None}, {}, unknown(["note"], ["n"]))),
        ((1, A, A), None, ("DELETE", {"id": "1"}, None, unknown(["n", "note"]))),
        (None, (1, 5, A), ("INSERT", {"id": "1", "n": "5"}, None, unknown(["note"]))),
        # NOBLOB
        (
            (1, 4, A),
            (1, 5, A),
            ("UPDATE", {"id": "1", "n": "5"}, {"n": "4"}, unknown(["note"], [])),
        ),
        (
            (1, 4, A),
            (1, 4, b"x"),
            ("UPDATE", {"id": "1", "n": "4", "note": "x"}, {}, unknown([], ["note"])),
        ),
        # FULL_NODUP: everything is known
        ((1, 4, b"x"), (A, 5, A), ("UPDATE", {"id": "1", "n": "5", "note": "x"}, {"n": "4"}, None)),
        (
            (1, 4, b"x"),
            (1, 5, b"x"),
            ("UPDATE", {"id": "1", "n": "5", "note": "x"}, {"n": "4"}, None),
        ),
    ],
)
@pytest.mark.parametrize("rows_per_message", ["row", "event"])
def test_absent_columns_are_absent_and_named(
    before: Row | None, after: Row | None, expected: object, rows_per_message: str
) -> None:
    (message,) = published(before, after, rows_per_message=rows_per_message)
    assert said(message) == expected
    assert message.key == (b'["shop.users","1"]' if rows_per_message == "row" else None)
    assert message.partition == published(None, (1, 0, None))[0].partition


def test_a_changed_key_is_a_delete_and_an_insert_that_names_what_did_not_come() -> None:
    deleted, inserted = published((1, A, A), (2, A, A))
    assert said(deleted) == ("DELETE", {"id": "1"}, None, unknown(["n", "note"]))
    assert said(inserted) == ("INSERT", {"id": "2"}, None, unknown(["n", "note"]))
    assert (deleted.key, inserted.key) == (b'["shop.users","1"]', b'["shop.users","2"]')
    _, whole = published((1, 4, b"x"), (2, A, A))
    assert said(whole) == ("INSERT", {"id": "2", "n": "4", "note": "x"}, None, None)


def test_canals_words_are_those_of_the_images_and_the_place_is_the_keys() -> None:
    (message,) = published((1, A, A), (A, 5, A), plan(style="canal"), value_style="canal")
    assert said(message)[1:3] == ({"n": "5"}, {})
    assert message.partition == published(None, (1, 0, None))[0].partition


def test_field_tags_count_what_may_have_changed() -> None:
    tags = Tags(("users",), (("n", "f1"), ("note", "f2")))
    (message,) = published((1, A, A), (A, 5, A), plan(tags=tags))
    assert [value for name, value in message.headers if name == "tag"] == [b"users", b"f1"]


def test_rows_that_lack_what_places_them_stop() -> None:
    by_n = plan("shop.users:n")
    for before, after in (
        ((1, A, A), (A, A, b"x")),
        ((1, A, A), (A, 5, A)),
        ((1, A, A), None),
        (None, (1, A, A)),
    ):
        with pytest.raises(
            RowImageIncomplete, match="lacks column 'n', which selects its partition"
        ):
            published(before, after, by_n)
    assert len(published((1, 4, A), (A, A, b"x"), by_n)) == 1


def test_a_row_without_its_key_stops() -> None:
    with pytest.raises(RowImageIncomplete):
        published((A, 4, A), (A, 5, A), plan("shop.users"))


@pytest.mark.parametrize(
    ("before", "after"),
    [((1, A, A), (A, 5, A)), ((1, 4, A), (1, 5, A)), (None, (1, 5, A)), ((1, A, A), None)],
)
def test_whole_rows_are_asked_for_by_default(before: Row | None, after: Row | None) -> None:
    with pytest.raises(
        RowImageIncomplete,
        match=r"shop\.users at b\.1:4 lacks columns: n?.*(n|note)\. .*without_fields",
    ):
        published(before, after, row_image="full")
    assert len(published((1, 4, b"x"), (A, 5, A), row_image="full")) == 1


def test_hidden_columns_that_rows_do_not_hold_are_named() -> None:
    hidden = Column("!hidden!i!0!0", ColumnType.LONGLONG, nullable=True)
    table = TableMap(NAME, (*COLUMNS, hidden), (0,))
    event = RowsEvent(
        Operation.INSERT,
        table,
        (RowChange(None, (1, 4, b"x", A)),),
        1000,
        BinlogPosition("b.1", 4),
        100,
    )
    with pytest.raises(
        SchemaMismatch, match=r"shop\.users at b\.1:4 names !hidden!i!0!0"
    ) as refused:
        known_rows(event, MessageSettings(row_image="full"))
    assert "Drop the functional index" in str(refused.value)
