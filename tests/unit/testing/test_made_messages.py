"""Messages for unit tests of consumers: read back by the client, refused where they cannot be."""

import orjson
import pytest

from relay.encode import message_headers
from relay.envelope import FIELDS, parse_order
from relay.model.positions.position import OrderPair
from relay.testing import Clock, MessageMaker
from roma_client.testing import Subscribed, changes_from

ORDERS = MessageMaker(
    "shop",
    "orders",
    {"id": "bigint", "state": "enum('open','paid')"},
    ["id"],
    field_tags={"state": "paid"},
)
OPEN, PAID = {"id": "7", "state": "open"}, {"id": "7", "state": "paid"}


def test_a_service_reads_what_a_test_makes() -> None:
    made = [
        ORDERS.insert(OPEN),
        ORDERS.update(OPEN, PAID),
        ORDERS.delete(PAID),
        ORDERS.tombstone(PAID),
        ORDERS.statement("ALTER TABLE orders ADD note TEXT"),
    ]
    inserted, updated, deleted = changes_from(made, Subscribed("shop", "orders"))
    assert (inserted.after, updated.changed, deleted.before) == (
        {"id": 7, "state": "open"},
        frozenset({"state"}),
        {"id": 7, "state": "paid"},
    )
    assert inserted.order < updated.order < deleted.order
    assert updated.tags == ("orders", "paid")
    paid = Subscribed("shop", "orders", frozenset({"paid"}), ddl=True)
    statement = "ALTER TABLE orders ADD note TEXT"
    assert [each.sql for each in changes_from(made, paid)] == [None, None, None, statement]
    everything = changes_from(made, Subscribed("shop", "orders", ddl=True))
    assert everything[-1].sql == statement
    assert dict(made[-1].headers).keys() == dict(message_headers(OrderPair(1, 1), ())).keys()
    (lone,) = changes_from([ORDERS.tombstone(PAID)], Subscribed("shop", "orders"))
    assert (lone.operation, lone.key, lone.is_key_only) == ("DELETE", deleted.key, True)


def test_messages_have_all_fields_in_their_order_and_orders_that_rise() -> None:
    clock = Clock(execute_time=5000, execute_position=1)
    made = MessageMaker("shop", "t", {"id": "int"}, ["id"], clock=clock).insert({"id": "1"})
    assert tuple(orjson.loads(made.value or b"")) == FIELDS
    assert parse_order(dict(made.headers)["order"]) == (5000, 2)


def test_rows_that_the_table_cannot_have_are_refused() -> None:
    with pytest.raises(ValueError, match=r"differ in \['state'\]"):
        ORDERS.insert({"id": "7"})
    with pytest.raises(ValueError, match=r"texts or None, unlike those of \['id'\]"):
        ORDERS.insert({"id": 7, "state": None})  # type: ignore[dict-item]  # the fault
    with pytest.raises(ValueError, match="the update changes the key"):
        ORDERS.update(OPEN, {**PAID, "id": "8"})
    with pytest.raises(ValueError, match="not a column type"):
        MessageMaker("shop", "t", {"id": "number"}, ["id"]).insert({"id": "1"})
