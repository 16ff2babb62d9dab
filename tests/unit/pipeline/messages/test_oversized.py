"""Every message leaves in a form that its topic takes, and a row that cannot be printed holds
nobody up.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from relay.claim_check import ClaimStore
from relay.dead_letters import DeadLetter, DeadLetterTopic
from relay.dead_letters.chunks import piece_of
from relay.encode import CanalJson, DebeziumJson, MessageFrame
from relay.envelope import Header, checked_claim, parse_claim, value_schema
from relay.errors import CorruptEvent, ValueNotPrintable
from relay.model.change import Operation, RowChange, RowsEvent, TransactionBegin
from relay.model.message import BLOCK_HEAD, OutboundMessage, PrintedMessages
from relay.model.positions.position import BinlogPosition, OrderPair
from relay.model.table import Column, ColumnType, TableId, TableMap
from relay.model.value import JsonDocument, JsonScalar, JsonScalarKind
from relay.pipeline.messages.choice_of_format import MessageFormats
from relay.pipeline.messages.oversized import MessageOrigin, OversizedMessages
from relay.pipeline.messages.published_changes import EventContext
from relay.pipeline.messages.single_row import row_messages
from relay.pipeline.messages.unencodable_rows import UnprintableRow, row_values, rows_one_by_one
from relay.settings import ClaimSettings, InstanceSettings, KafkaSettings, MessageSettings
from tests.support.rows.table_plans import TOPIC, table_definition, table_plan

KAFKA = KafkaSettings(bootstrap_servers="x")
INSTANCE = InstanceSettings.model_validate(
    {
        "name": "shop",
        "source": {"host": "h", "user": "u", "server_id": 7},
        "topic": {"rules": [{"topics": "other", "format": "debezium-json"}]},
    }
)
TABLE = TableMap(
    TableId("shop_1", "t"),
    (
        Column("id", ColumnType.LONG, nullable=False),
        Column("kind", ColumnType.ENUM, nullable=True, length=1, labels=("a", "b")),
    ),
    (0,),
)
NAMED = replace(
    TABLE,
    columns=(
        Column("name", ColumnType.VARCHAR, nullable=True, length=40, charset="utf8mb4"),
        *TABLE.columns,
    ),
    primary_key=(1,),
)
LOGICAL = TableId("shop", "t")
PLAN = table_plan(table_definition(TABLE), LOGICAL, "t", 4)
CONTEXT = EventContext(MessageFrame(event_time_ms=0, gtid="", batch=1, publish_time_ms=5), None)
BEGIN = TransactionBegin(BinlogPosition("b.000001", 400), "0-1-7", None, 0)
ORIGIN = MessageOrigin(TABLE.id, LOGICAL, BEGIN, CONTEXT, (TOPIC,))
BEFORE = OrderPair(1_767_225_609_131, 4_294_967_300_000)
LIMIT = 4000


class Sent:
    """A checkpoint that keeps what it is given."""

    def __init__(self) -> None:
        self.messages: list[OutboundMessage] = []
        self.claims = 0
        self.dead_letters: list[str] = []

    def add(self, message: OutboundMessage) -> None:
        self.messages.append(message)

    def add_printed(self, topic: str, messages: PrintedMessages) -> None:
        self.messages += messages.each(topic)

    def add_claim(self, message: OutboundMessage) -> None:
        self.add(message)
        self.claims += 1

    def count_dead_letter(self, code: str) -> None:
        self.dead_letters.append(code)


class Taking:
    """Topics that are there and take LIMIT bytes at once; `compacted` keep the last of each key."""

    def __init__(self, *compacted: str) -> None:
        self._compacted = compacted

    def is_compacted(self, topic: str) -> bool:
        return topic in self._compacted

    def ensure_single(self, topic: str) -> None:
        assert topic.endswith(".ddl")

    def dead_letter_limit(self, _: DeadLetterTopic) -> int:
        return LIMIT


class Limits:
    limits = dict.fromkeys((TOPIC, f"{TOPIC}.ddl", "other", "other.ddl"), LIMIT)


def oversize(
    sent: Any,
    claims: ClaimStore | None = None,
    compacted: tuple[str, ...] = (),
    **message: Any,
) -> OversizedMessages:
    topics: Any = Taking(*compacted)
    sizes: Any = Limits()
    return OversizedMessages(
        sent,
        topics,
        sizes,
        DeadLetterTopic(KAFKA, "roma", "shop"),
        claims,
        MessageSettings(**message),
        MessageFormats(INSTANCE),
    )


def message(value_bytes: int, position: int = 1) -> OutboundMessage:
    """One of those that rows become, with a value of this size."""
    event = RowsEvent(
        Operation.INSERT, TABLE, [RowChange(None, (position, 1))], 0, BEGIN.position, 9
    )
    ((_, (made,)),) = row_messages(
        event, PLAN, MessageSettings(), CONTEXT, OrderPair(BEFORE.execute_time, position), 0
    )
    fields = orjson.loads(made.value or b"")
    fields["data"][0]["kind"] = ""
    filler = value_bytes - len(orjson.dumps(fields))
    fields["data"][0]["kind"] = "x" * filler
    return OutboundMessage(made.topic, made.partition, made.key, orjson.dumps(fields), made.headers)


def letters(sent: Sent) -> Iterator[DeadLetter]:
    """The letters among what was sent, whole."""
    content: dict[bytes, bytes] = {}
    for each in sent.messages:
        if each.topic == "roma.dead-letters.shop":
            piece = piece_of(each.value or b"")
            assert piece is not None
            content[each.key or b""] = content.get(each.key or b"", b"") + piece.content
    return map(DeadLetter.from_bytes, content.values())


def test_what_fits_goes_as_it_is() -> None:
    sent = Sent()
    oversize(sent).send(message(3000), ORIGIN)
    assert sent.messages == [message(3000)]
    assert sent.dead_letters == []


def test_a_dead_letter_holds_the_whole_message_and_says_where_it_came_from() -> None:
    sent = Sent()
    sends = oversize(sent)
    sends.send(message(20_000), ORIGIN)
    assert sends.kept_back == 1
    (letter,) = letters(sent)
    assert letter.message == message(20_000)
    assert (letter.code, letter.real, letter.logical, letter.file, letter.offset, letter.gtid) == (
        "MESSAGE_TOO_LARGE",
        "shop_1.t",
        "shop.t",
        "b.000001",
        400,
        "0-1-7",
    )
    assert all(len(each.value or b"") <= LIMIT for each in sent.messages)
    assert sent.dead_letters == ["MESSAGE_TOO_LARGE"]


@pytest.mark.parametrize("ddl", ["topic", "drop"])
def test_who_follows_statements_learns_that_a_row_was_kept_back(ddl: str) -> None:
    sent = Sent()
    oversize(sent, ddl=ddl).send(message(20_000), ORIGIN)
    (letter,) = letters(sent)
    marker = sent.messages[-1]
    assert (marker.topic, marker.partition, marker.key) == (f"{TOPIC}.ddl", 0, message(1000).key)
    headers = dict(marker.headers)
    assert headers[Header.DEAD_LETTER.value] == letter.id.encode()
    assert headers[Header.ORDER.value] == dict(message(1000).headers)[Header.ORDER.value]
    value = orjson.loads(marker.value or b"")
    assert (value["type"], value["isDdl"], value["table"], value["data"]) == (
        "QUERY",
        False,
        "t",
        None,
    )


@pytest.mark.parametrize("compacted", [TOPIC, f"{TOPIC}.ddl"])
def test_markers_in_a_compacted_topic_have_keys_of_their_own(compacted: str) -> None:
    """It takes no record without a key, and would keep one of the markers of a key."""
    sent = Sent()
    kept = oversize(sent, compacted=(compacted,))
    kept.send(message(20_000), ORIGIN)
    kept.send(message(20_000), ORIGIN)
    unprintable = UnprintableRow("VALUE_NOT_PRINTABLE", "…", None, b"{}")
    kept.send_row(unprintable, OrderPair(BEFORE.execute_time, 2), ORIGIN)
    keys = [each.key for each in sent.messages if each.topic == f"{TOPIC}.ddl"]
    order = dict(message(1000).headers)[Header.ORDER.value].decode()
    assert [orjson.loads(key or b"") for key in keys] == [
        ["", order, f"2-{number}"] for number in (1, 2, 3)
    ]


def test_a_statement_that_is_kept_back_is_reported_in_its_topic() -> None:
    sent = Sent()
    statement = replace(message(20_000), topic=f"{TOPIC}.ddl", partition=0, key=None)
    oversize(sent).send(statement, ORIGIN)
    (letter,) = letters(sent)
    marker = sent.messages[-1]
    assert (marker.topic, marker.partition, marker.key) == (f"{TOPIC}.ddl", 0, None)
    assert letter.message.topic == f"{TOPIC}.ddl"


def test_a_claim_points_to_the_value_and_carries_no_rows(tmp_path: Path) -> None:
    sent = Sent()
    oversize(sent, ClaimStore(ClaimSettings(url=str(tmp_path)), "roma", "shop")).send(
        message(20_000), ORIGIN
    )
    (reference,) = sent.messages
    original = message(20_000)
    assert (reference.topic, reference.partition, reference.key) == (
        original.topic,
        original.partition,
        original.key,
    )
    assert reference.headers[:-1] == original.headers
    name, text = reference.headers[-1]
    assert name == "claim"
    claim = parse_claim(text)
    assert (
        checked_claim(claim, Path(claim.url.removeprefix("file://")).read_bytes()) == original.value
    )
    fields = orjson.loads(reference.value or b"")
    assert set(fields) == set(value_schema()["required"])
    assert (fields["data"], fields["old"], fields["type"], fields["pkNames"]) == (
        None,
        None,
        "INSERT",
        ["id"],
    )
    assert sent.claims == 1


def test_a_marker_and_a_reference_have_the_format_of_their_topic(tmp_path: Path) -> None:
    store = ClaimStore(ClaimSettings(url=str(tmp_path)), "roma", "shop")
    form = DebeziumJson("shop", with_schema=False)
    rows = form.rows(PLAN.definition, LOGICAL, ("other",))
    value = rows.encode((RowChange(None, (1, 1)),), CONTEXT.frame, BEFORE)
    value = value.replace(b'"op":', b'"filler":"%s","op":' % (b"x" * 20_000))
    large = replace(message(1000), topic="other", value=value)
    sent = Sent()
    oversize(sent, store).send(large, ORIGIN)
    fields = orjson.loads(sent.messages[0].value or b"")
    assert (fields["op"], fields["before"], fields["after"]) == ("c", None, None)
    letters_sent = Sent()
    oversize(letters_sent).send(large, ORIGIN)
    (marker,) = [each for each in letters_sent.messages if each.topic == "other.ddl"]
    assert orjson.loads(marker.value or b"")["source"]["connector"]


def test_the_fields_of_a_reference_stand_in_their_order() -> None:
    assert (
        list(orjson.loads(CanalJson("exact").reference(message(1000).value or b"")))
        == value_schema()["required"]
    )


def test_of_printed_messages_only_the_large_ones_are_kept_back() -> None:
    sent = Sent()
    made = [message(3000, 1), message(20_000, 2), message(3000, 3)]
    parts = [
        (each.partition, each.key or b"", each.value or b"", each.headers[0][1]) for each in made
    ]
    block = b"".join(
        BLOCK_HEAD.pack(partition, len(value), len(key), -1) + order + key + value
        for partition, key, value, order in parts
    )
    printed = PrintedMessages(len(made), 26_000, block, ("order", "orders"), made[0].headers[1:])
    oversize(sent).send_printed(TOPIC, printed, ORIGIN)
    assert [each for each in sent.messages if each.topic == TOPIC] == [made[0], made[2]]
    assert [letter.message for letter in letters(sent)] == [made[1]]


def test_messages_of_one_change_have_letters_of_their_own() -> None:
    sent = Sent()
    kept = oversize(sent)
    for position in (1, 1, 2):
        kept.send(message(20_000, position), ORIGIN)
    assert [letter.id for letter in letters(sent)] == ["2-1", "2-2", "3-1"]


def made_of(
    kinds: list[int | None], skip: int = 0
) -> list[tuple[OrderPair, list[OutboundMessage] | UnprintableRow]]:
    rows = [RowChange(None, (number, kind)) for number, kind in enumerate(kinds)]
    event = RowsEvent(Operation.INSERT, TABLE, rows, 0, BEGIN.position, 9)
    return list(
        rows_one_by_one(
            event,
            PLAN,
            lambda part, before, skipped: row_messages(
                part, PLAN, MessageSettings(), CONTEXT, before, skipped
            ),
            BEFORE,
            skip,
        )
    )


def test_rows_beside_one_that_cannot_be_printed_go_their_way() -> None:
    made = made_of([1, 7, 2])
    assert [order.execute_position - BEFORE.execute_position for order, _ in made] == [1, 2, 3]
    first, second, third = (each for _, each in made)
    whole = made_of([1, 1, 2])
    assert (first, third) == (whole[0][1], whole[2][1])
    assert isinstance(second, UnprintableRow)
    assert (second.code, second.key) == (ValueNotPrintable.code, b'["shop.t","1"]')
    assert orjson.loads(second.values)["after"] == {"id": 1, "kind": 7}


@pytest.mark.parametrize(("kinds", "expected"), [([1, 2], 4), ([1, 7, 2, 7], 4), ([7], 0)])
def test_values_that_are_no_characters_count_for_rows_that_are_published(
    kinds: list[int], expected: int
) -> None:
    """In two formats, of which the second one prints a row that the first one has printed."""
    rows = [RowChange(None, (b"\xff", number, kind)) for number, kind in enumerate(kinds)]
    event = RowsEvent(Operation.INSERT, NAMED, rows, 0, BEGIN.position, 9)
    one = table_plan(table_definition(NAMED), LOGICAL, "t", 4)
    other = table_plan(table_definition(NAMED), LOGICAL, "u", 4)
    plan = replace(one, forms=(*one.forms, *other.forms))
    settings = MessageSettings()
    list(
        rows_one_by_one(
            event,
            plan,
            lambda part, before, skip: row_messages(part, plan, settings, CONTEXT, before, skip),
            BEFORE,
            0,
        )
    )
    assert plan.take_undecodable() == expected


@pytest.mark.parametrize("skip", [1, 2, 3])
def test_rows_that_are_visible_already_are_counted_and_not_kept_back_again(skip: int) -> None:
    made = made_of([1, 7, 2], skip)
    assert [order.execute_position - BEFORE.execute_position for order, _ in made] == [1, 2, 3]
    assert [bool(each) for _, each in made] == [number >= skip for number in range(3)]


def test_a_row_that_cannot_be_printed_becomes_a_letter_with_its_values() -> None:
    sent = Sent()
    order, row = made_of([7])[0]
    oversize(sent).send_row(row, order, ORIGIN)
    (letter,) = letters(sent)
    assert (letter.code, letter.is_message, letter.message.topic) == (
        "VALUE_NOT_PRINTABLE",
        False,
        TOPIC,
    )
    assert "labels" in letter.reason
    assert orjson.loads(letter.message.value or b"")["after"] == {"id": 0, "kind": 7}


def test_a_damaged_event_stays_a_stop() -> None:
    class Damaged(list[RowChange]):
        def __len__(self) -> int:
            raise CorruptEvent("damaged")

    event = RowsEvent(Operation.INSERT, TABLE, Damaged(), 0, BEGIN.position, 9)
    with pytest.raises(CorruptEvent):
        list(rows_one_by_one(event, PLAN, lambda *_: [], BEFORE, 0))


def test_values_are_kept_as_they_were_read() -> None:
    document = JsonDocument({"n": JsonScalar(JsonScalarKind.DECIMAL, "1.50"), "l": [None, True]})
    table = TableMap(
        TABLE.id,
        (Column("b", ColumnType.BLOB, nullable=True), Column("j", ColumnType.JSON, nullable=True)),
    )
    kept = orjson.loads(
        orjson.dumps(row_values(table, RowChange((b"\xff", None), (b"", document))))
    )
    assert kept["columns"] == [{"name": "b", "type": "BLOB"}, {"name": "j", "type": "JSON"}]
    assert kept["before"] == {"b": {"base64": "/w=="}, "j": None}
    decimal = kept["after"]["j"]["root"]["n"]
    assert (decimal["text"], decimal["kind"], decimal["raw"]) == ("1.50", "decimal", {"base64": ""})


def test_dead_letters_of_copied_rows_under_one_order_key_have_ids_of_their_own() -> None:
    sent, copied = Sent(), ORIGIN._replace(begin=None)
    for key in (b"1", b"2"):  # a chunk of the next session has the order key of the last one
        sender = oversize(sent)
        for _ in range(2):
            sender.send(replace(message(LIMIT + 1), key=key), copied)
    letters = {each.key for each in sent.messages if each.topic != f"{TOPIC}.ddl"}
    assert len(letters) == 4


def test_dead_letters_of_copied_rows_with_one_key_have_ids_of_their_own() -> None:
    """Rows of two shards, or rows with a masked key, have one key; a row of another is between."""
    sent, copied = Sent(), ORIGIN._replace(begin=None)
    sender = oversize(sent)
    one = replace(message(LIMIT + 1), key=b"1")
    masked = replace(one, value=(one.value or b"").replace(b"xxx", b"yyy"))
    between = replace(one, key=b"2")
    shard = copied._replace(real=TableId("shop_2", "t"))
    for row, origin in ((one, copied), (between, copied), (one, shard), (between, shard)):
        sender.send(row, origin)
    sender.send(masked, copied)
    letters = {each.key for each in sent.messages if each.topic != f"{TOPIC}.ddl"}
    assert len(letters) == 5
