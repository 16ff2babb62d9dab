"""A table of several topics has a value for each of their formats, and one printer at most."""

from typing import Any

import orjson
import pytest

from relay.encode import MessageFrame
from relay.model.change import Operation, RowChange, RowsEvent
from relay.model.message import OutboundMessage
from relay.model.positions.position import BinlogPosition, OrderPair
from relay.model.row_path import SlowReason
from relay.model.table import Column, ColumnType, TableId, TableMap
from relay.pipeline.messages.choice_of_format import MessageFormats
from relay.pipeline.messages.printing.event_printer import EventPrinter
from relay.pipeline.messages.published_changes import EventContext
from relay.pipeline.messages.refined_row_messages import RefinedRows
from relay.pipeline.messages.single_row import row_messages
from relay.pipeline.messages.table_plan import TablePlan
from relay.pipeline.messages.table_plans import TablePlans
from relay.refine import Refinements
from relay.route import Destination
from relay.route.mapping import Tags
from relay.settings import InstanceSettings
from tests.support.rows.table_plans import table_definition

NAME = TableId("shop", "t")
TABLE = TableMap(
    TableId("shop_1", "t"),
    (Column("id", ColumnType.LONG, nullable=False), Column("n", ColumnType.LONG, nullable=True)),
    (0,),
)
RULES = ({"topics": "deb.*", "format": "debezium-json"}, {"topics": "ce", "format": "cloudevents"})
BEFORE = OrderPair(1_767_225_609_131, 4_294_967_300_000)
CONTEXT = EventContext(MessageFrame(event_time_ms=0, gtid="", batch=1, publish_time_ms=5), None)
CONTENT_TYPE = "content-type"
PLAIN = Tags(("t",), ())
FIELD_TAGS = Tags(("t",), (("n", "f"),))


class Routes:
    """Routes each table to these topics."""

    def __init__(self, topics: tuple[str, ...], tags: Tags) -> None:
        self._destination = Destination(NAME, topics, tags)

    def route(self, _real: TableId) -> Destination:
        return self._destination


class Definitions:
    """Defines each table by its map."""

    define = staticmethod(table_definition)


class Limits:
    """Each topic takes a megabyte."""

    class sizes:  # noqa: N801 - an attribute of topics
        limits = dict.fromkeys(("rows", "deb.a", "deb.b", "ce"), 1_000_000)

    def partitions(self, _topic: str) -> int:
        return 4

    def keep_key_forms(self, *_: object) -> None: ...

    def is_compacted(self, _topic: str) -> bool:
        return False


def instance(**settings: Any) -> InstanceSettings:
    return InstanceSettings.model_validate(
        {
            "name": "shop",
            "source": {"host": "h", "user": "u", "server_id": 7},
            "topic": {"rules": RULES},
            **settings,
        }
    )


def plan_of(settings: InstanceSettings, *topics: str, tags: Tags = FIELD_TAGS) -> TablePlan:
    stubs: tuple[Any, Any, Any] = (Routes(topics, tags), Definitions(), Limits())
    refinements, formats = Refinements(settings, {}), MessageFormats(settings)
    plan = TablePlans(settings, *stubs, refinements, formats).plan(TABLE)
    assert isinstance(plan, TablePlan)
    return plan


def event(operation: Operation, *rows: RowChange) -> RowsEvent:
    return RowsEvent(operation, TABLE, rows, 0, BinlogPosition("b.000001", 400), 9)


def messages(
    plan: TablePlan, settings: InstanceSettings, found: RowsEvent
) -> list[OutboundMessage]:
    made = row_messages(found, plan, settings.message, CONTEXT, BEFORE, 0)
    return [message for _, each in made for message in each]


def is_debezium(value: bytes | None) -> bool:
    return value is not None and "op" in orjson.loads(value)


def is_canal(value: bytes | None) -> bool:
    return value is not None and "isDdl" in orjson.loads(value)


def test_each_topic_has_the_row_in_its_format_under_one_key_and_order() -> None:
    settings = instance()
    plan = plan_of(settings, "deb.a", "rows", "ce", "deb.b")
    made = messages(plan, settings, event(Operation.INSERT, RowChange(None, (1, 2))))
    by_topic = {each.topic: each for each in made}
    assert [each.topic for each in made] == ["deb.a", "deb.b", "rows", "ce"]
    assert by_topic["deb.a"].value == by_topic["deb.b"].value
    assert is_debezium(by_topic["deb.a"].value)
    assert is_canal(by_topic["rows"].value)
    assert orjson.loads(by_topic["ce"].value or b"")["specversion"] == "1.0"
    assert len({(each.key, each.partition, dict(each.headers)["order"]) for each in made}) == 1
    typed = {topic for topic, each in by_topic.items() if CONTENT_TYPE in dict(each.headers)}
    assert typed == {"ce"}
    assert all(each.count(("tag", b"f")) for each in (one.headers for one in made))


def test_tombstones_have_no_headers_of_a_format() -> None:
    settings = instance(message={"tombstones": True})
    plan = plan_of(settings, "rows", "ce")
    made = messages(plan, settings, event(Operation.DELETE, RowChange((1, 2), None)))
    assert [(each.topic, each.value is None) for each in made] == [
        ("rows", False), ("rows", True), ("ce", False), ("ce", True)
    ]  # fmt: skip
    assert [CONTENT_TYPE in dict(each.headers) for each in made] == [False, False, True, False]


@pytest.mark.parametrize("masked", [False, True])
def test_a_split_update_has_both_halves_in_each_format(masked: bool) -> None:
    mask = {"columns": r"shop_1\.t\.n", "method": "replace"}
    settings = instance(masks=[mask] if masked else [])
    plan = plan_of(settings, "rows", "deb.a")
    found = event(Operation.UPDATE, RowChange((1, 5), (2, 5)))
    if plan.refinement is None:
        made = messages(plan, settings, found)
    else:
        refined = RefinedRows(
            plan, plan.refinement, settings.message, CONTEXT, keeps_back=False
        ).of(found, BEFORE, 0)
        made = [each for row in refined if isinstance(row.made, list) for each in row.made]
    assert [each.topic for each in made] == ["rows", "deb.a", "rows", "deb.a"]
    canal, debezium = (
        [orjson.loads(each.value or b"") for each in made if each.topic == topic]
        for topic in ("rows", "deb.a")
    )
    assert [each["type"] for each in canal] == ["DELETE", "INSERT"]
    assert [each["op"] for each in debezium] == ["d", "c"]
    orders = [dict(each.headers)["order"] for each in made]
    assert orders[0] == orders[1] < orders[2] == orders[3]
    assert debezium[1]["after"]["n"] == (None if masked else 5)
    assert canal[1]["data"][0]["n"] == (None if masked else "5")


def test_a_table_of_one_topic_keeps_its_compiled_printer() -> None:
    settings = instance()
    canal, debezium = (plan_of(settings, each, tags=PLAIN) for each in ("rows", "deb.a"))
    both = plan_of(settings, "rows", "deb.a", tags=PLAIN)
    assert isinstance(canal.printer, EventPrinter) or canal.printer is SlowReason.NOT_COMPILED
    assert type(debezium.printer) is type(canal.printer)
    assert both.printer is SlowReason.SEVERAL_TOPICS
    assert [each.names_coordinates for each in (canal, debezium, both)] == [False, True, True]


def test_a_topic_of_its_own_and_its_statements_have_one_format() -> None:
    formats = MessageFormats(instance())
    assert formats.of("deb.a") is formats.of("deb.a.ddl")
    assert formats.of("rows").name == "canal-json"
