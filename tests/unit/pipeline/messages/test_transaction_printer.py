"""Transactions that are printed many at once give the messages, the record and the counts that they
give item by item.
"""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from itertools import pairwise
from typing import Any, TypeAlias
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from relay.compiled import COMPILED
from relay.decode import RowDecoder
from relay.model.change import Advance, Statement, StreamItem, TransactionBegin, TransactionEnd
from relay.model.message import OutboundMessage
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import PositionRecord
from relay.pipeline.buffer import Chunk
from relay.pipeline.checkpoint import checkpoint as checkpoint_module
from relay.pipeline.delivery import outbox as outbox_module
from relay.pipeline.messages.printing import transaction_printer
from tests.support.rows import publishers
from tests.support.rows.publishers import SentMessages, publisher_without_servers
from tests.unit.decode.event_bytes import (
    DELETE_V2,
    UPDATE_V2,
    WRITE_V2,
    WrittenColumn,
    WrittenTable,
    image,
    raw_rows,
    rows_body,
)
from tests.unit.pipeline.messages.column_cases import CASES, GBK, KEYS, UTF8MB4, octets
from tests.unit.route.mappings import documents, router

pytestmark = pytest.mark.skipif(not COMPILED, reason="the compiled printer was not built")
IDENTITY = SourceIdentity("", 1, 0)
NOW_S = 1_767_225_700.0
MAPPING = router(
    documents(
        dbs=[{"logicDb": "shop", "realDbs": "shop"}, {"logicDb": "other", "realDbs": "other"}],
        tbs=[{"logicTb": "orders", "realTbs": "orders_0,orders_1"}],
        topics=[{"logicDb": "shop", "topic": "shop"}, {"logicDb": "other", "topic": "other"}],
    )
)
PARTITIONS = {"shop": 4, "other": 3}
PACKINGS = [("row", 1_000_000), ("event", 1_000_000), ("event", 1_200)]
"""Setting `rows_per_message`, and the limit of a message in bytes."""
KEY, KEY_VALUES = KEYS[0]
OTHERS = [
    next(each for each in CASES if each[0]["type"] == code) for code in (246, 18, 16, 5, 245)
] + [each for each in CASES if each[0].get("collation") in (UTF8MB4, GBK)]
GARBLED = next(i for i, (case, _) in enumerate(OTHERS) if case.get("collation") == GBK)
"""A column whose texts are printed by a call from compiled code."""
OTHERS[GARBLED] = OTHERS[GARBLED][0], st.one_of(OTHERS[GARBLED][1], octets(1, 20))
COLUMNS = [
    WrittenColumn(**{**KEY, "name": "id"}),
    *(
        WrittenColumn(**{**case, "name": f"c{i}", "nullable": True})
        for i, (case, _) in enumerate(OTHERS)
    ),
]
TABLES = [
    ("shop", "orders_0"), ("shop", "orders_1"), ("shop", "lines"), ("other", "orders_0"),
    ("unmapped", "orders_0"),
]  # fmt: skip
MAPS = [
    WrittenTable(COLUMNS, primary_key=(0,), database=database, table=table)
    for database, table in TABLES
]
VALUES = st.tuples(KEY_VALUES, *(st.one_of(st.none(), value) for _, value in OTHERS))
EventBody: TypeAlias = tuple[int, int, bytes]
Part: TypeAlias = "str | tuple[int, int | None, str, list[EventBody]]"


@st.composite
def event_bodies(draw: st.DrawFn) -> EventBody:
    """A table, a type of event and a body."""
    kind = draw(st.sampled_from([WRITE_V2, WRITE_V2, UPDATE_V2, DELETE_V2]))
    images: list[bytes] = []
    for _ in range(draw(st.integers(1, 3))):
        row = draw(VALUES)
        images.append(image(row))
        if kind == UPDATE_V2:
            other = draw(VALUES)
            moves = draw(st.integers(0, 7)) == 0
            images.append(image(other if moves else (row[0], *other[1:])))
    return (
        draw(st.sampled_from([0, 0, 0, 1, 2, 3, 4])),
        kind,
        rows_body(len(COLUMNS), *images, kind=kind),
    )


transactions = st.tuples(
    st.integers(0, 3),  # seconds later than the one before
    # commit time after the header's second, milliseconds
    st.one_of(st.none(), st.integers(-5_000, 5_000)),
    st.sampled_from(["0-1-{}", "0-1-{}", ""]),
    st.lists(event_bodies(), max_size=4),
)
streams = st.lists(
    st.one_of(*[transactions] * 3, st.sampled_from(["ddl", "advance", "rotate"])), max_size=12
)


def stream(parts: Sequence[Part]) -> Iterator[StreamItem]:
    decoder = RowDecoder()
    file, at, seconds = 1, 4, 1_767_225_600

    def here() -> BinlogPosition:
        return BinlogPosition(f"binlog.{file:06}", at)

    for number, part in enumerate(parts):
        at += 100
        match part:
            case "advance":
                yield Advance(here(), IDENTITY)
            case "rotate":
                file, at = file + 1, 4
                yield Advance(here(), IDENTITY)
            case "ddl":
                yield TransactionBegin(here(), f"0-1-{number}", None, seconds)
                yield Statement("ALTER TABLE orders_0 ADD x INT", "shop", seconds, here())
                yield TransactionEnd(here(), f"0-1-{number}", IDENTITY)
            case (later, commit, gtid, events):
                seconds += later
                name = gtid.format(number)
                yield TransactionBegin(
                    here(), name, None if commit is None else seconds * 1000 + commit, seconds
                )
                for table, kind, body in events:
                    at += 10
                    raw = raw_rows(MAPS[table].map_body(), body, kind)
                    yield decoder.open(raw._replace(position=here(), header_time_s=seconds))
                yield TransactionEnd(here(), name, IDENTITY)


Published: TypeAlias = tuple[list[OutboundMessage], PositionRecord, object, OrderPair]


def published(
    items: Sequence[StreamItem], cuts: Sequence[int], packing: tuple[str, int], *, at_once: bool
) -> Published:
    """Publish the items in steps that end at `cuts`.

    Return messages, record, counts and the last pair.
    """
    record = PositionRecord(
        SourcePosition(BinlogPosition("binlog.000001", 4), "", IDENTITY),
        OrderPair(0, 0),
        epoch=2,
        change_time_ms=0,
    )
    sent, undecodable = SentMessages(), list[int]()
    with (
        patch.object(
            checkpoint_module.Checkpoint,
            "count_undecodable",
            lambda _, values: undecodable.append(values),
        ),
        patch.object(transaction_printer, "COMPILED", at_once),
        patch.object(publishers, "_LARGEST_MESSAGE_BYTES", packing[1]),
        patch.object(checkpoint_module, "time", lambda: NOW_S),
        patch.object(checkpoint_module, "monotonic", lambda: 0.0),
        # no batch is closed by its age, however busy the machine is
        patch.object(outbox_module, "monotonic", lambda: 0.0),
    ):
        publisher = publisher_without_servers(
            record, sent, MAPPING, PARTITIONS, message={"rows_per_message": packing[0]}
        )
        for start, end in pairwise([0, *cuts, len(items)]):
            publisher.take(Chunk([*items[start:end]]))
        publisher.checkpoint.commit_if_due(idle=True)
    stats = publisher.stats
    stats.totals.commit_seconds.clear()
    stats.totals.publish_seconds.clear()
    return (
        sent.messages,
        publisher.progress.record,
        (
            {each.name: getattr(stats.totals, each.name) for each in fields(stats.totals)},
            stats.dropped,
            stats.tables,
            stats.printed,
            sum(undecodable),
        ),
        publisher.progress.order,
    )


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.too_slow])  # a busy machine makes streams slowly
@given(parts=streams, packing=st.sampled_from(PACKINGS), data=st.data())
def test_many_at_once_are_the_same_as_one_by_one(
    parts: list[Part], packing: tuple[str, int], data: st.DataObject
) -> None:
    items = [*stream(parts)]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(items)), max_size=3)))
    at_once = published(items, cuts, packing, at_once=True)
    assert at_once == published(items, cuts, packing, at_once=False)


def event(table: int, *keys: int, kind: int = WRITE_V2) -> EventBody:
    images = [image((bytes([key]), *([None] * len(OTHERS)))) for key in keys]
    return table, kind, rows_body(len(COLUMNS), *images, kind=kind)


def garbled(table: int, *keys: int) -> EventBody:
    """Rows with a value whose bytes are no characters."""
    others = [b"\x02\xff\xff" if i == GARBLED else None for i in range(len(OTHERS))]
    rows = [image((bytes([key]), *others)) for key in keys]
    return table, WRITE_V2, rows_body(len(COLUMNS), *rows, kind=WRITE_V2)


def transaction(*events: EventBody) -> Part:
    return 0, None, "0-1-{}", [*events]


KNOWN = transaction(event(0, 1), event(2, 2), event(3, 3))
MOVES = event(0, 1, 2, kind=UPDATE_V2)
LARGE = transaction(*[event(0, *range(200))] * 100)
PACKED = transaction(event(0, *range(9)), event(2, *range(5)), event(0, 7, 3, 7))


@pytest.mark.slow
@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([KNOWN] * 3, id="three topics' tables in turn"),
        pytest.param([KNOWN, PACKED, KNOWN, PACKED], id="events of several rows"),
        pytest.param(
            [
                KNOWN,
                transaction(garbled(0, 4, 5), garbled(2, 6)),
                transaction(garbled(2, 7), garbled(0, 8), garbled(2, 9), MOVES),
                transaction(garbled(3, 1), MOVES),
                KNOWN,
            ],
            id="bytes that are no characters in transactions that are refused",
        ),
        pytest.param(
            [KNOWN, transaction(event(2, 4)), transaction(event(0, 5), event(2, 6), MOVES), KNOWN],
            id="moves its key at last",
        ),
        pytest.param(
            [KNOWN, transaction(event(0, 5)), transaction(event(0, 6), MOVES), KNOWN],
            id="moves its key within one table",
        ),
        pytest.param([KNOWN, transaction(), KNOWN, transaction()], id="without rows"),
        pytest.param(
            [KNOWN, transaction(event(0, 1), event(4, 2)), KNOWN], id="a table that is left out"
        ),
        pytest.param(
            [KNOWN, "rotate", KNOWN, "ddl", KNOWN, KNOWN], id="another file, another table"
        ),
    ],
)
@pytest.mark.parametrize("packing", PACKINGS)
def test_a_stream_is_the_same_as_one_by_one(parts: list[Part], packing: tuple[str, int]) -> None:
    assert_the_same(parts, packing, step=3)


@pytest.mark.slow
@pytest.mark.parametrize("step", [15, pytest.param(3, marks=pytest.mark.long)])
@pytest.mark.parametrize("packing", PACKINGS)
def test_a_large_transaction_between_is_the_same_as_one_by_one(
    packing: tuple[str, int], step: int
) -> None:
    assert_the_same([KNOWN, LARGE, KNOWN], packing, step)


def assert_the_same(parts: list[Part], packing: tuple[str, int], step: int) -> None:
    """Publish a stream in two pieces, with a cut after each `step` items, in both ways."""
    items = [*stream(parts)]
    for cut in range(0, min(len(items), 30), step):
        at_once = published(items, [cut], packing, at_once=True)
        assert at_once == published(items, [cut], packing, at_once=False)


@pytest.mark.parametrize("packing", PACKINGS)
def test_known_tables_are_taken_at_once(packing: tuple[str, int]) -> None:
    items = [*stream([transaction(event(0, number)) for number in range(50)])]
    seen: list[int] = []
    take = transaction_printer.WholeTransactionPrinter.take

    def watched(*arguments: Any) -> transaction_printer.WholeTransactions | None:
        found = take(*arguments)
        seen.append(0 if found is None else found.transactions)
        return found

    with patch.object(transaction_printer.WholeTransactionPrinter, "take", watched):
        published(items, [], packing, at_once=True)
    # The first one makes the table known.
    assert [number for number in seen if number] == [49]
