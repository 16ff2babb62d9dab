"""Rows of system-versioned tables: whatever statements do, readers hold the current rows, whether
they know the header or not.
"""

from dataclasses import dataclass, field, replace

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.encode import KeyEncoder, MessageFrame, RowEncoder, RowHistory, as_history, exact_text
from relay.encode.row_history import ENDLESS
from relay.errors import RowImageIncomplete
from relay.model.change import Operation, RowChange, RowsEvent
from relay.model.message import OutboundMessage
from relay.model.positions.position import BinlogPosition, OrderPair
from relay.model.row_path import SlowReason
from relay.model.table import Column, ColumnType, TableDefinition, TableId, TableMap
from relay.model.value import ABSENT, Value
from relay.pipeline.messages.packed import packed_messages
from relay.pipeline.messages.printing.event_printer import make_event_printer
from relay.pipeline.messages.published_changes import EventContext
from relay.pipeline.messages.refined_row_messages import RefinedRows
from relay.pipeline.messages.single_row import row_messages
from relay.pipeline.messages.table_plan import TablePlan
from relay.refine import Refinements
from relay.schema.system_versions import with_versions
from relay.schema.type_text import type_text
from relay.settings import InstanceSettings, MessageSettings
from tests.support.rows.table_plans import table_plan

NAME = TableId("shop", "t")
COLUMNS = (
    Column("id", ColumnType.LONG, nullable=False),
    Column("n", ColumnType.LONG, nullable=True),
    Column("row_start", ColumnType.TIMESTAMP2, nullable=False, length=6),
    Column("row_end", ColumnType.TIMESTAMP2, nullable=False, length=6),
)
KEYS = {"end behind": (0, 3), "end first": (3, 0), "start in key": (0, 2)}
CONTEXT = EventContext(MessageFrame(event_time_ms=0, gtid="", batch=1, publish_time_ms=5), None)
ENDS = sorted(ENDLESS)
PAST = "2026-01-01 00:00:00.000001"
FIELDS = {"rules": [{"tables": ".*", "without_fields": ["row_start", "row_end"]}]}

Row = tuple[Value, ...]


def definition(key: tuple[int, ...]) -> TableDefinition:
    table = TableMap(NAME, COLUMNS, key)
    return with_versions(TableDefinition(table, key, tuple(map(type_text, COLUMNS))), 3)


def refined_plan(whole: TableDefinition) -> TablePlan:
    instance = InstanceSettings.model_validate(
        {"name": "x", "source": {"host": "h", "user": "u", "server_id": 7}, **FIELDS}
    )
    refinement = Refinements(instance, {}).of(whole, NAME, exact_text)
    assert refinement is not None
    shown = as_history(refinement.published)
    plain = table_plan(refinement.definition, NAME, "tag", 7)
    rows = RowEncoder(refinement.published, NAME, "exact")
    past = RowEncoder(shown, NAME, "exact")
    return replace(
        plain,
        forms=(replace(plain.forms[0], rows=rows, past=past),),
        keys=KeyEncoder(refinement.published, NAME),
        history=RowHistory(as_history(refinement.definition), 3, KeyEncoder(shown, NAME)),
        refinement=refinement,
    )


@dataclass
class Table:
    """A table as MariaDB keeps it, and what it logs."""

    endless: str
    current: dict[int, Row] = field(default_factory=dict)
    history: list[Row] = field(default_factory=list)
    logged: list[tuple[Operation, RowChange]] = field(default_factory=list)
    time: int = 1

    def now(self) -> str:
        self.time += 1
        return f"2026-01-01 00:00:00.{self.time:06}"

    def put(self, key: int, n: int) -> None:
        """INSERT, or UPDATE where the row is there."""
        self.move(key, key, n) if key in self.current else self.insert(
            (key, n, self.now(), self.endless)
        )

    def insert(self, row: Row) -> None:
        self.current[int(str(row[0]))] = row
        self.logged.append((Operation.INSERT, RowChange(None, row)))

    def move(self, key: int, new: int, n: int) -> None:
        """UPDATE, of the key too."""
        if key not in self.current or (new != key and new in self.current):
            return
        now, before = self.now(), self.current.pop(key)
        after = (new, n, now, self.endless)
        self.current[new] = after
        past = (*before[:3], now)
        self.history.append(past)
        self.logged += [
            (Operation.UPDATE, RowChange(before, after)),
            (Operation.INSERT, RowChange(None, past)),
        ]

    def delete(self, key: int) -> None:
        if key in self.current:
            before = self.current.pop(key)
            past = (*before[:3], self.now())
            self.history.append(past)
            self.logged.append((Operation.UPDATE, RowChange(before, past)))

    def forget(self) -> None:
        """DELETE HISTORY."""
        self.logged += [(Operation.DELETE, RowChange(row, None)) for row in self.history]
        self.history.clear()


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 3), st.integers(0, 9)),
        st.tuples(st.just("move"), st.integers(0, 3), st.integers(0, 3), st.integers(0, 9)),
        st.tuples(st.just("delete"), st.integers(0, 3)),
        st.tuples(st.just("forget")),
    ),
    max_size=25,
)


def is_history(message: OutboundMessage) -> bool:
    return dict(message.headers).get("history") == b"row_end"


def published(plan: TablePlan, table: Table, settings: MessageSettings) -> list[OutboundMessage]:
    order, found = OrderPair(1, 0), []
    for operation, change in table.logged:
        event = RowsEvent(
            operation, plan.definition.map, (change,), 0, BinlogPosition("b.000001", 400), 9
        )
        if plan.refinement is not None:
            refined = RefinedRows(plan, plan.refinement, settings, CONTEXT, keeps_back=False)
            made = [
                (each.order, each.made if isinstance(each.made, list) else [])
                for each in refined.of(event, order, 0)
            ]
        elif settings.rows_per_message == "event":
            made = list(packed_messages(event, plan, settings, CONTEXT, order, 0, 1_000_000))
        else:
            made = list(row_messages(event, plan, settings, CONTEXT, order, 0))
        assert made[-1][0] > order
        order = made[-1][0]
        found += [message for _, messages in made for message in messages]
    return found


def folded(messages: list[OutboundMessage]) -> dict[str, dict[str, str]]:
    """What a reader holds by message key; of a message without one by what its value says."""
    rows: dict[str, dict[str, str]] = {}
    for message in messages:
        value = orjson.loads(message.value or b"")
        (row,) = value["data"]
        key = orjson.dumps(["shop.t", *(row[name] for name in value["pkNames"])])
        assert message.key in (None, key)
        if value["type"] == "DELETE":
            del rows[key.decode()]
        else:
            rows[key.decode()] = row
    return rows


def texts(rows: list[Row]) -> list[tuple[str, str]]:
    return sorted((str(row[0]), str(row[1])) for row in rows)


@pytest.mark.parametrize("packed", ["row", "event"])
@pytest.mark.parametrize("refined", [False, True])
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@settings(max_examples=40)
@given(steps=STEPS, endless=st.sampled_from(ENDS))
def test_readers_hold_the_current_rows(
    key: tuple[int, ...], refined: bool, packed: str, steps: list[tuple[str, int]], endless: str
) -> None:
    table = Table(endless)
    for name, *arguments in steps:
        getattr(table, name)(*arguments)
    whole = definition(key)
    plan = refined_plan(whole) if refined else table_plan(whole, NAME, "tag", 7)
    messages = published(plan, table, MessageSettings.model_validate({"rows_per_message": packed}))
    current = folded([each for each in messages if not is_history(each)])
    assert sorted((row["id"], row["n"]) for row in current.values()) == texts(
        list(table.current.values())
    )
    past = folded([each for each in messages if is_history(each)])
    assert sorted((row["id"], row["n"]) for row in past.values()) == texts(table.history)
    assert not current.keys() & past.keys(), (
        "compaction, and readers that do not know the header, would take one for the other"
    )
    assert {name: row for name, row in folded(messages).items() if name in current} == current


def test_the_fast_printers_leave_such_a_table_alone() -> None:
    plan = table_plan(definition((0, 3)), NAME, "tag", 7)
    assert (
        make_event_printer(plan.definition, ("shop.t",), plan.routes[0].partitioning, plan.rows)
        is SlowReason.SYSTEM_VERSIONED
    )


def test_an_ended_row_is_deleted_whole_although_its_image_before_is_partial() -> None:
    table = Table(ENDS[0])
    before = (1, ABSENT, ABSENT, ENDS[0])
    table.logged = [
        (Operation.INSERT, RowChange(None, (1, 5, PAST, ENDS[0]))),
        (Operation.UPDATE, RowChange(before, (1, 5, PAST, PAST))),
    ]
    plan = table_plan(definition((0, 3)), NAME, "tag", 7)
    _, deleted, past = published(plan, table, MessageSettings(row_image="partial"))
    value = orjson.loads(deleted.value or b"")
    assert (value["type"], value["data"]) == (
        "DELETE",
        [{"id": "1", "n": "5", "row_start": PAST, "row_end": ENDS[0]}],
    )
    assert (is_history(deleted), is_history(past)) == (False, True)
    assert (deleted.key, past.key) == (b'["shop.t","1"]', f'["shop.t","1","{PAST}"]'.encode())


def test_a_row_that_does_not_say_whether_it_is_current_is_refused_by_name() -> None:
    table = Table(ENDS[0], logged=[(Operation.DELETE, RowChange((1, 5, PAST, ABSENT), None))])
    with pytest.raises(RowImageIncomplete):
        published(
            table_plan(definition((0, 2)), NAME, "tag", 7),
            table,
            MessageSettings(row_image="partial"),
        )


def test_a_table_without_a_key_marks_its_history_all_the_same() -> None:
    table = Table(ENDS[0])
    table.put(1, 2)
    table.delete(1)
    messages = published(table_plan(definition(()), NAME, "tag", 7), table, MessageSettings())
    assert [
        (is_history(each), each.key, orjson.loads(each.value or b"")["pkNames"])
        for each in messages
    ] == [
        (False, None, None),
        (False, None, None),
        (True, None, None),
    ]
