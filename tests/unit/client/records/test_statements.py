"""Statements beside tags, in compacted topics, outside Kafka, and about no table."""

import json

import pytest

from relay.model.positions.position import OrderPair
from relay.pipeline.messages.statements import statement_key
from roma_client.errors import ClaimUnreadable, CorruptMessage
from roma_client.records.decoding import Reading, changes_of
from roma_client.records.record import Record
from roma_client.records.selection import Selection
from tests.support.clients.made_records import claimed, row_record, statement_record

READING = Reading()
SQL = "ALTER TABLE orders ADD note TEXT"


def orders(*tags: str, statements: bool = True) -> Selection:
    return Selection.of_table("shop", "orders", "shop", frozenset(tags), statements=statements)


def statements(record: Record, selection: Selection) -> list[str | None]:
    return [each.sql for each in changes_of(record, selection, READING)]


def test_a_statement_is_delivered_whatever_tags_are_selected() -> None:
    """The relay gives statements no tags."""
    assert statements(statement_record(SQL), orders("paid")) == [SQL]
    assert statements(statement_record(SQL, table="cart"), orders("paid")) == []
    assert statements(statement_record(SQL), orders("paid", statements=False)) == []


def test_a_row_without_a_selected_tag_is_left_out_also_if_statements_are_selected() -> None:
    for tags in ((), ("orders",)):
        row = row_record([{"id": "1"}], tags=tags)
        assert changes_of(row, orders("paid"), READING) == []
        assert changes_of(row._replace(value=None), orders("paid"), READING) == []
    paid = row_record([{"id": "1"}], tags=("orders", "paid"))
    assert len(changes_of(paid, orders("paid"), READING)) == 1


def test_a_statement_in_a_compacted_topic_is_delivered() -> None:
    """There it has a key, which names no table."""
    kept = statement_record(SQL, key=statement_key(OrderPair(1000, 1)))
    assert statements(kept, orders()) == [SQL]
    assert statements(kept, orders("paid")) == [SQL]
    assert statements(kept, orders(statements=False)) == []


def test_a_dead_letters_statement_with_the_key_of_its_row_is_delivered() -> None:
    told = statement_record("/* dead letter 1 */", key=b'["shop.orders","7"]')
    assert statements(told, orders("paid")) == ["/* dead letter 1 */"]


def test_a_statement_whose_value_is_outside_kafka_has_its_text() -> None:
    record, value = claimed(statement_record(SQL), "s3://b/1")
    (change,) = changes_of(record, orders(), Reading("python", lambda _: value))
    assert change.sql == SQL
    with pytest.raises(ClaimUnreadable, match="s3://b/1"):
        changes_of(record, orders(), READING)
    assert changes_of(record, orders(statements=False), READING) == []


def test_a_statement_about_a_database_is_delivered_once_by_a_reader_of_several_topics() -> None:
    """It is in each topic of the database; the client reads the tables from the first one."""
    selection = Selection(
        lambda _: True, {"shop.orders": "shop", "crm.lead": "copy"}, statements=True
    )
    own = statement_record("CREATE VIEW v AS SELECT 1", table="")
    assert statements(own, selection) == [own_sql(own)]
    assert statements(own._replace(topic="shop"), selection) == [own_sql(own)], "inline"
    assert statements(own._replace(topic="copy.ddl"), selection) == []


def own_sql(record: Record) -> str:
    return str(json.loads(record.value or b"")["sql"])


@pytest.mark.parametrize("kind", ["REPLACE", "", "update"])
def test_rows_of_an_unknown_type_are_refused_and_not_left_out(kind: str) -> None:
    for selection in (orders(), orders(statements=False)):
        with pytest.raises(CorruptMessage, match=f"its type is '{kind}', and it has rows"):
            changes_of(row_record([{"id": "1"}], kind=kind), selection, READING)
        other = row_record([{"id": "1"}], kind=kind, table="cart", key=False)
        assert changes_of(other, selection, READING) == []
