"""A message with several rows has the same values for each row as a message with only this row."""

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from relay.encode import KeyEncoder, MessageFrame, PartitionTexts, RowEncoder, tag_headers
from relay.envelope import row_orders
from relay.model.change import Operation, RowChange, RowsEvent
from relay.model.message import OutboundMessage
from relay.model.positions.position import BinlogPosition, OrderPair
from relay.model.table import Column, ColumnType, TableDefinition, TableId, TableMap
from relay.model.value import Row
from relay.partition import PartitionRule
from relay.pipeline.messages.packed import packed_messages
from relay.pipeline.messages.published_changes import EventContext
from relay.pipeline.messages.row_form import RowForm, TopicRoute
from relay.pipeline.messages.single_row import row_messages
from relay.pipeline.messages.table_plan import TablePlan
from relay.route import Destination, Tags
from relay.settings import InstanceSettings, MessageSettings

NAME = TableId("logicDb", "logicTb")
COLUMNS = (
    Column("id", ColumnType.LONG, nullable=False, unsigned=True),
    Column("name", ColumnType.VARCHAR, nullable=True, length=80, charset="utf8mb4"),
    Column("kind", ColumnType.ENUM, nullable=True, labels=("a", "b")),
)
DEFINITION = TableDefinition(
    TableMap(TableId("real1", "t"), COLUMNS, (0,)),
    (0,),
    ("int unsigned", "varchar(20)", "enum('a','b')"),
)
FRAME = MessageFrame(
    event_time_ms=1_700_000_000_000, gtid="0-1-2", batch=7, publish_time_ms=1_700_000_000_123
)
CONTEXT = EventContext(FRAME, None)
BEFORE = OrderPair(1_700_000_000_000, 4_294_967_300_000)
TOPICS = {"narrow": 1, "wide": 3}

IDS = st.integers(0, 6) | st.just(2**31)
ROWS = st.tuples(
    IDS, st.sampled_from([None, b"x", "é".encode(), b"y" * 300]), st.sampled_from([1, 2])
)
UPDATES = st.builds(
    lambda before, after, moves: RowChange(before, after if moves else (before[0], *after[1:])),
    ROWS,
    ROWS,
    st.booleans(),
)
EVENTS = st.one_of(
    st.tuples(
        st.just(Operation.INSERT),
        st.lists(ROWS.map(lambda row: RowChange(None, row)), min_size=1, max_size=12),
    ),
    st.tuples(
        st.just(Operation.DELETE),
        st.lists(ROWS.map(lambda row: RowChange(row, None)), min_size=1, max_size=12),
    ),
    st.tuples(st.just(Operation.UPDATE), st.lists(UPDATES, min_size=1, max_size=12)),
)
SETTINGS = st.builds(
    lambda **chosen: MessageSettings(rows_per_message="event", **chosen),
    value_style=st.sampled_from(["exact", "canal"]),
    field_tags=st.sampled_from(["header", "separate"]),
    key_change=st.sampled_from(["split", "canal"]),
)


class SeenRow(NamedTuple):
    """One row of a message, as a reader takes it out."""

    order: tuple[int, int]
    tags: tuple[bytes, ...]
    body: dict[str, Any]


def plan_of(settings: MessageSettings) -> TablePlan:
    routes = []
    for topic, partitions in TOPICS.items():
        rule = PartitionRule(".*\\..*:$pk$", database_hash=True, partitions=partitions)
        partitioning = rule.for_table(
            NAME, tuple(column.name for column in COLUMNS), DEFINITION.key
        )
        routes.append(
            TopicRoute(
                topic, partitioning, PartitionTexts(DEFINITION, partitioning.ordinals), 1_000_000
            )
        )
    return TablePlan(
        definition=DEFINITION,
        destination=Destination(NAME, tuple(TOPICS), Tags(("tag1",), (("name", "f1"),))),
        forms=(RowForm(tuple(routes), RowEncoder(DEFINITION, NAME, settings.value_style)),),
        keys=KeyEncoder(DEFINITION, NAME),
        tags=tag_headers(("tag1",)),
        split_key_change=settings.key_change == "split",
    )


def event_of(operation: Operation, rows: list[RowChange]) -> RowsEvent:
    return RowsEvent(
        operation, DEFINITION.map, rows, 1_700_000_000, BinlogPosition("b.000001", 400), 100
    )


def headers_of(message: OutboundMessage, name: str) -> list[bytes]:
    return [value for key, value in message.headers if key == name]


def rows_of(message: OutboundMessage) -> list[SeenRow]:
    """The rule that readers follow (docs/message/packed-rows.md)."""
    assert message.value is not None
    body = json.loads(message.value)
    orders = row_orders(
        headers_of(message, "order")[0], next(iter(headers_of(message, "orders")), None)
    )
    olds = body["old"] or [None] * len(orders)
    return [
        SeenRow(order, tuple(headers_of(message, "tag")), {**body, "data": row, "old": old})
        for order, row, old in zip(orders, body["data"], olds, strict=True)
    ]


def by_stream(
    messages: Iterable[OutboundMessage], settings: MessageSettings
) -> dict[tuple[object, ...], list[SeenRow]]:
    """What one reader meets, in its order: a partition, and one tag of it where each message has
    one.
    """
    streams: dict[tuple[object, ...], list[SeenRow]] = defaultdict(list)
    for message in messages:
        for row in rows_of(message):
            streams[
                (
                    message.topic,
                    message.partition,
                    row.tags if settings.field_tags == "separate" else (),
                )
            ].append(row)
    return streams


@given(EVENTS, SETTINGS, st.integers(0, 12), st.sampled_from([1_500, 2_500, 1_000_000]))
def test_unpacked_it_is_what_single_messages_say(
    event: tuple[Operation, list[RowChange]],
    settings: MessageSettings,
    skip: int,
    largest_bytes: int,
) -> None:
    rows = event_of(*event)
    single = list(row_messages(rows, plan_of(settings), settings, CONTEXT, BEFORE, skip))
    packed = list(
        packed_messages(rows, plan_of(settings), settings, CONTEXT, BEFORE, skip, largest_bytes)
    )
    assert packed[-1][0] == single[-1][0]
    one_each = [message for _, messages in single for message in messages]
    several = [message for _, messages in packed for message in messages]
    assert by_stream(several, settings) == by_stream(one_each, settings)
    assert {message.key for message in several} <= {None}


@given(EVENTS, SETTINGS.filter(lambda settings: settings.value_style == "exact"))
def test_the_key_is_made_of_the_names_and_the_row(
    event: tuple[Operation, list[RowChange]], settings: MessageSettings
) -> None:
    for _, messages in row_messages(
        event_of(*event), plan_of(settings), settings, CONTEXT, BEFORE, 0
    ):
        for message in messages:
            [row] = rows_of(message)
            body = row.body
            made = [
                f"{body['database']}.{body['table']}",
                *(body["data"][name] for name in body["pkNames"]),
            ]
            assert orjson.dumps(made) == message.key


def inserts(*ids: int, name: bytes = b"x") -> RowsEvent:
    return event_of(Operation.INSERT, [RowChange(None, (number, name, 1)) for number in ids])


def packed(
    event: RowsEvent, largest_bytes: int = 1_000_000, topic: str = "narrow"
) -> list[OutboundMessage]:
    settings = MessageSettings(rows_per_message="event")
    taken = packed_messages(event, plan_of(settings), settings, CONTEXT, BEFORE, 0, largest_bytes)
    return [message for _, messages in taken for message in messages if message.topic == topic]


def test_rows_of_one_partition_share_a_message() -> None:
    [message] = packed(inserts(1, 2, 1))
    assert headers_of(message, "order") == [b"1700000000000.0000004294967300001"]
    assert headers_of(message, "orders") == [b"0,1,2"]
    assert [row.body["data"]["id"] for row in rows_of(message)] == ["1", "2", "1"]


def test_rows_of_other_partitions_leave_gaps_in_the_orders() -> None:
    messages = packed(inserts(1, 2, 3, 4, 5, 6), topic="wide")
    assert len(messages) == len({message.partition for message in messages}) == 3
    positions = sorted(row.order[1] for message in messages for row in rows_of(message))
    assert positions == [BEFORE.execute_position + number for number in range(1, 7)]
    assert sorted(headers_of(message, "orders")[0] for message in messages) == [
        b"0,2",
        b"0,2",
        b"0,5",
    ]


def test_other_tags_begin_another_message_so_that_the_partitions_order_stays() -> None:
    def update(number: int, before: bytes, after: bytes) -> RowChange:
        return RowChange((number, before, 1), (number, after, 2))

    rows = [update(1, b"x", b"x"), update(1, b"x", b"y"), update(1, b"y", b"y")]
    tags = [headers_of(message, "tag") for message in packed(event_of(Operation.UPDATE, rows))]
    assert tags == [[b"tag1"], [b"tag1", b"f1"], [b"tag1"]]


def test_a_split_update_travels_between_the_rows_around_it() -> None:
    def row(number: int, kind: int) -> Row:
        return (number, b"x", kind)

    rows = [
        RowChange(row(1, 1), row(1, 2)),
        RowChange(row(2, 1), row(3, 1)),
        RowChange(row(1, 2), row(1, 1)),
    ]
    messages = packed(event_of(Operation.UPDATE, rows))
    assert [rows_of(message)[0].body["type"] for message in messages] == [
        "UPDATE",
        "DELETE",
        "INSERT",
        "UPDATE",
    ]
    orders = [
        each.order[1] - BEFORE.execute_position for message in messages for each in rows_of(message)
    ]
    assert orders == [1, 2, 3, 4]


def test_a_message_too_large_for_kafka_is_cut_and_a_single_row_is_left_to_the_producer() -> None:
    event = event_of(
        Operation.INSERT,
        [RowChange(None, (number, b"y" * 60 if number == 3 else b"x", 1)) for number in range(8)],
    )
    whole = packed(event)
    assert len(whole) == 1
    limit = len(whole[0].value or b"") - 100
    assert all(len(message.value or b"") < limit for message in packed(event, limit))
    alone = packed(event, 100)
    assert [len(rows_of(message)) for message in alone] == [1] * 8


def test_values_that_are_no_characters_count_once_in_messages_that_were_cut() -> None:
    settings = MessageSettings(rows_per_message="event")
    plan = plan_of(settings)
    event = inserts(*range(8), name=b"\xff" * 20)
    for largest_bytes in (1_000_000, 100):
        list(packed_messages(event, plan, settings, CONTEXT, BEFORE, 0, largest_bytes))
        assert plan.take_undecodable() == 8 * len(TOPICS)


@pytest.mark.parametrize(
    "other",
    [
        {"message": {"tombstones": True}},
        {"routing": {"key_scope": "shard"}},
        {"topic": {"retention": "compact"}},
    ],
)
def test_settings_that_need_keys_are_refused(other: dict[str, dict[str, Any]]) -> None:
    source = {"host": "h", "user": "u", "server_id": 1}
    message = {**other.get("message", {}), "rows_per_message": "event"}
    InstanceSettings.model_validate({"name": "shop", "source": source, **other})
    with pytest.raises(ValidationError, match="needs message keys"):
        InstanceSettings.model_validate(
            {"name": "shop", "source": source, **other, "message": message}
        )
