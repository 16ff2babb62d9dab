"""Rows of a table with rules: their messages, their pairs, and what is said of those that cannot be
taken.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.encode import KeyEncoder, MessageFrame, RowEncoder, exact_text
from relay.errors import RowImageIncomplete, TransformFailed
from relay.model.change import Operation, RowChange, RowsEvent
from relay.model.message import OutboundMessage
from relay.model.positions.position import BinlogPosition, OrderPair
from relay.model.table import Column, ColumnType, TableId, TableMap
from relay.model.value import ABSENT
from relay.pipeline.messages.published_changes import EventContext
from relay.pipeline.messages.refined_row_messages import RefinedRow, RefinedRows
from relay.pipeline.messages.single_row import row_messages
from relay.pipeline.messages.unencodable_rows import UnprintableRow
from relay.refine import Change, NotPublished, Refinements
from relay.settings import InstanceSettings, MessageSettings
from tests.support.rows.table_plans import table_definition, table_plan

TABLE = TableMap(
    TableId("shop_1", "t"),
    (
        Column("id", ColumnType.LONG, nullable=False),
        Column("mail", ColumnType.VARCHAR, nullable=True, length=40, charset="utf8mb4"),
        Column("kind", ColumnType.ENUM, nullable=True, length=1, labels=("a", "b")),
    ),
    (0,),
)
LOGICAL = TableId("shop", "t")
DEFINITION = table_definition(TABLE)
CONTEXT = EventContext(MessageFrame(event_time_ms=0, gtid="", batch=1, publish_time_ms=5), None)
BEFORE = OrderPair(1_767_225_609_131, 100)
MASK = {"columns": ".*\\.mail", "method": "replace", "value": "***"}
MASKED: dict[str, Any] = {"masks": [MASK]}
NEUTRAL: dict[str, Any] = {"rules": [{"tables": ".*"}]}


def rows(
    *changes: RowChange,
    skip: int = 0,
    keeps_back: bool = True,
    message: dict[str, Any] | None = None,
    undecodable: list[int] | None = None,
    **settings: Any,
) -> list[RefinedRow]:
    """What becomes of these changes, all of one event. `undecodable` gets how many values were
    printed with U+FFFD.
    """
    instance = InstanceSettings.model_validate(
        {"name": "x", "source": {"host": "h", "user": "u", "server_id": 7}, **settings}
    )
    refinement = Refinements(instance, {}).of(DEFINITION, LOGICAL, exact_text)
    assert refinement is not None
    plain = table_plan(refinement.definition, LOGICAL, "t", 4)
    rows = RowEncoder(refinement.published, LOGICAL, "exact")
    plan = replace(
        plain,
        forms=(replace(plain.forms[0], rows=rows),),
        keys=KeyEncoder(refinement.published, LOGICAL),
        refinement=refinement,
        split_key_change=(message or {}).get("key_change", "split") == "split",
    )
    event = RowsEvent(Operation.UPDATE, TABLE, changes, 0, BinlogPosition("b.000001", 400), 9)
    refined = RefinedRows(
        plan,
        refinement,
        MessageSettings.model_validate(message or {}),
        CONTEXT,
        keeps_back=keeps_back,
    )
    made = list(refined.of(event, BEFORE, skip))
    if undecodable is not None:
        undecodable.append(plan.take_undecodable())
    return made


def pairs(made: list[RefinedRow]) -> list[int]:
    return [each.order.execute_position - BEFORE.execute_position for each in made]


def messages(row: RefinedRow) -> list[OutboundMessage]:
    assert isinstance(row.made, list)
    return row.made


def positions(row: RefinedRow) -> list[int]:
    return [
        int(dict(each.headers)["order"].split(b".")[1]) - BEFORE.execute_position
        for each in messages(row)
    ]


INSERT = RowChange(None, (1, b"a@b", 1))
NEW_KEY = RowChange((1, b"a@b", 1), (2, b"a@b", 1))


def test_every_row_takes_its_pairs_whatever_becomes_of_it() -> None:
    made = rows(
        INSERT,
        NEW_KEY,
        RowChange(None, (3, b"x", 1)),
        INSERT,
        rules=[{"tables": ".*", "where": "id <> 3"}],
    )
    assert pairs(made) == [1, 3, 4, 5]
    assert [isinstance(each.made, NotPublished) for each in made] == [False, False, True, False]
    assert [positions(each) for each in made if isinstance(each.made, list)] == [[1], [2, 3], [5]]


@pytest.mark.parametrize("skip", [0, 1, 2, 3, 4])
def test_rows_that_are_visible_already_are_counted_alone(skip: int) -> None:
    rules = [{"tables": ".*", "where": "id <> 3"}]
    changes = (INSERT, NEW_KEY, RowChange(None, (3, b"x", 1)), INSERT)
    whole, rest = rows(*changes, rules=rules), rows(*changes, rules=rules, skip=skip)
    assert pairs(rest) == pairs(whole)
    assert [each.made for each in rest] == [[]] * skip + [each.made for each in whole[skip:]]


@pytest.mark.parametrize(("skip", "expected"), [(0, 2), (1, 1), (3, 0)])
def test_values_that_are_no_characters_count_where_their_row_is_published(
    skip: int, expected: int
) -> None:
    counted: list[int] = []
    garbled = [RowChange(None, (number, b"\xff", kind)) for number, kind in enumerate((1, 9, 2))]
    rows(*garbled, skip=skip, undecodable=counted, **NEUTRAL)
    assert counted == [expected]


def test_messages_show_what_may_be_seen_and_are_placed_by_what_is_there() -> None:
    ((message,), (plain,)) = (
        messages(rows(INSERT, **settings)[0]) for settings in (MASKED, NEUTRAL)
    )
    value = orjson.loads(message.value or b"")
    assert value["data"] == [{"id": "1", "mail": "***", "kind": "a"}]
    assert value["mysqlType"]["mail"] == "varchar(3)"
    assert (message.key, message.partition) == (plain.key, plain.partition)


def test_the_key_of_a_hashed_row_is_its_hash_and_its_place_that_of_the_row() -> None:
    masks: dict[str, Any] = {"masks": [{"columns": ".*\\.id", "method": "hash", "salt": "s" * 16}]}
    for number in range(20):
        change = RowChange(None, (number, b"a", 1))
        ((message,), (plain,)) = (messages(rows(change, **each)[0]) for each in (masks, NEUTRAL))
        assert message.partition == plain.partition
        assert message.key != plain.key


def test_packed_messages_hold_one_row_and_have_no_key() -> None:
    made = rows(INSERT, INSERT, masks=[MASK], message={"rows_per_message": "event"})
    assert [(message.key, positions(each)) for each in made for message in messages(each)] == [
        (None, [1]),
        (None, [2]),
    ]


def test_a_delete_that_a_condition_makes_has_its_tombstone() -> None:
    change = RowChange((1, b"a", 1), (1, b"b", 1))
    (made,) = rows(
        change, rules=[{"tables": ".*", "where": "mail = 'a'"}], message={"tombstones": True}
    )
    row, tombstone = messages(made)
    assert orjson.loads(row.value or b"")["type"] == "DELETE"
    assert (tombstone.key, tombstone.value) == (row.key, None)


@pytest.fixture
def function(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], dict[str, Any]]:
    """The settings by which a function is put before the table."""

    def use(transform: Any) -> dict[str, Any]:
        monkeypatch.setattr("relay.refine.transform.transform_function", lambda _: transform)
        return {"transforms": [{"table": "shop.t", "function": "f", "most_changes": 3}]}

    return use


def twice_or_broken(change: Change, _: object) -> list[Change]:
    number = change.row["id"]
    if number == 9:
        raise ValueError(f"not {change.row['mail']!r}")
    return [] if number == 8 else [change, change.having(id=-1)]


def test_a_row_of_a_transform_takes_the_same_pairs_however_many_it_becomes(
    function: Callable[[Any], dict[str, Any]],
) -> None:
    made = rows(
        INSERT,
        RowChange(None, (8, b"a", 1)),
        RowChange(None, (9, b"a", 1)),
        NEW_KEY,
        **function(twice_or_broken),
    )
    assert pairs(made) == [6, 12, 18, 24]
    assert (positions(made[0]), positions(made[3])) == ([1, 2], [19, 20, 21])
    assert isinstance(made[1].made, NotPublished)
    assert isinstance(made[2].made, UnprintableRow)


def test_a_row_that_a_transform_cannot_take_is_kept_without_what_is_hidden(
    function: Callable[[Any], dict[str, Any]],
) -> None:
    (made,) = rows(RowChange(None, (9, b"a@b", 1)), masks=[MASK], **function(twice_or_broken))
    assert isinstance(made.made, UnprintableRow)
    assert made.made.code == "TRANSFORM_FAILED"
    assert "a@b" not in made.made.reason
    assert orjson.loads(made.made.values)["after"] == {"id": 9, "kind": 1}
    assert orjson.loads(made.made.values)["hidden"] == ["mail"]


def test_it_is_a_stop_where_nothing_is_kept_back(function: Callable[[Any], dict[str, Any]]) -> None:
    with pytest.raises(TransformFailed, match="ValueError: not 'a@b'"):
        rows(RowChange(None, (9, b"a@b", 1)), keeps_back=False, **function(twice_or_broken))


def test_a_row_that_cannot_be_printed_keeps_its_key() -> None:
    first, second = rows(RowChange(None, (1, b"a", 7)), INSERT, masks=[MASK])
    assert isinstance(first.made, UnprintableRow)
    assert (first.made.code, first.made.key) == ("VALUE_NOT_PRINTABLE", b'["shop.t","1"]')
    assert positions(second) == [2]


def test_a_row_with_a_new_key_that_cannot_be_printed_takes_both_order_keys() -> None:
    """A skip and a replay count two for it, and so does the path without rules."""
    first, second = rows(RowChange((1, b"a", 1), (2, b"a", 7)), INSERT, masks=[MASK])
    assert isinstance(first.made, UnprintableRow)
    assert pairs([first, second]) == [2, 3]
    assert positions(second) == [3]


def test_rows_that_lack_columns_are_a_stop_as_ever() -> None:
    with pytest.raises(RowImageIncomplete):
        rows(RowChange((1, ABSENT, ABSENT), (1, b"a", ABSENT)), masks=[MASK])


# MariaDB 11.8.9 logs no generated columns in updates and deletes.
WITHOUT_KIND: dict[str, Any] = {"rules": [{"tables": ".*", "without_fields": ["kind"]}]}


def test_a_column_that_no_message_has_may_be_missing() -> None:
    update, delete = (
        RowChange((1, b"a", ABSENT), (1, b"b", ABSENT)),
        RowChange((1, b"b", ABSENT), None),
    )
    made = rows(update, delete, **WITHOUT_KIND)
    values = [orjson.loads(message.value or b"") for row in made for message in messages(row)]
    assert [each["data"] for each in values] == [
        [{"id": "1", "mail": "b"}],
        [{"id": "1", "mail": "b"}],
    ]
    with pytest.raises(RowImageIncomplete, match="lacks columns: mail"):
        rows(RowChange((1, ABSENT, ABSENT), (1, ABSENT, ABSENT)), **WITHOUT_KIND)


def test_what_a_transform_is_given_must_be_whole(function: Callable[[Any], dict[str, Any]]) -> None:
    with pytest.raises(RowImageIncomplete, match="lacks columns: kind"):
        rows(
            RowChange((1, b"a", ABSENT), (1, b"b", ABSENT)),
            **WITHOUT_KIND,
            **function(twice_or_broken),
        )


def test_the_columns_of_a_condition_must_be_there() -> None:
    rule = {"tables": ".*", "without_fields": ["kind"], "where": "kind = 'a'"}
    with pytest.raises(RowImageIncomplete, match="needs the column kind"):
        rows(RowChange((1, b"a", ABSENT), (1, b"b", ABSENT)), rules=[rule])


IMAGES = st.tuples(
    st.integers(1, 3),
    st.none() | st.sampled_from([b"a", b"b", b"\xff"]),
    st.sampled_from([None, 0, 1, 2]),
)
CHANGES = (
    st.builds(RowChange, IMAGES, IMAGES)
    | st.builds(RowChange, st.none(), IMAGES)
    | st.builds(RowChange, IMAGES, st.none())
)
MESSAGES = st.fixed_dictionaries(
    {"tombstones": st.booleans(), "key_change": st.sampled_from(["split", "canal"])}
)


@given(CHANGES, MESSAGES, st.integers(0, 1))
def test_a_rule_that_asks_for_nothing_changes_nothing(
    change: RowChange, message: dict[str, Any], skip: int
) -> None:
    (refined,) = rows(change, skip=skip, message=message, rules=[{"tables": ".*"}])
    plan = replace(
        table_plan(DEFINITION, LOGICAL, "t", 4), split_key_change=message["key_change"] == "split"
    )
    event = RowsEvent(Operation.UPDATE, TABLE, [change], 0, BinlogPosition("b.000001", 400), 9)
    plain = list(
        row_messages(event, plan, MessageSettings.model_validate(message), CONTEXT, BEFORE, skip)
    )
    assert refined.order == plain[-1][0]
    assert refined.made == [each for _, messages in plain for each in messages]
