"""A decoder keeps what neighbours share, and decodes each record as if it were the only one."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roma_client.errors import ClientError, CorruptMessage
from roma_client.records.decoding import Decoder, Reading, changes_of
from roma_client.records.record import Record
from roma_client.records.selection import Selection
from tests.support.clients.made_records import claimed_record, row_record

READING = Reading(claim_reader=lambda _url: claimed_record({"id": "7"}, "s3://b/7")[1])
ORDERS = Selection.of_table("shop", "orders", "shop", frozenset(), statements=True)
PAID = Selection.of_table("shop", "orders", "shop", frozenset({"paid"}), statements=False)


def compact(record: Record, **fields: Any) -> Record:
    """The record in the form in which the relay writes messages, with other fields."""
    message = json.loads(record.value or b"") | fields
    return record._replace(value=json.dumps(message, separators=(",", ":")).encode())


def without_old(record: Record) -> Record:
    message = json.loads(compact(record).value or b"")
    del message["old"]
    return record._replace(value=json.dumps(message, separators=(",", ":")).encode())


INSERT = compact(row_record([{"id": "1"}]))
UPDATE = compact(row_record([{"id": "1"}], kind="UPDATE", old=[{"id": "2"}], order=(1000, 2)))
CLAIM = claimed_record({"id": "7"}, "s3://b/7")[0]
RECORDS = {
    "insert": INSERT,
    "of a later transaction": compact(row_record([{"id": "2"}], order=(2000, 3)), gtid="0-1-2"),
    "update": UPDATE,
    "update, other columns": compact(
        row_record([{"id": "1", "n": "x"}], kind="UPDATE", old=[{"n": None}], order=(1000, 4))
    ),
    "update of the same row": compact(row_record([{"id": "1"}], kind="UPDATE", old=[{}])),
    "update without former columns": compact(row_record([{"id": "1"}], kind="UPDATE")),
    "insert without old": without_old(INSERT),
    "update without old": without_old(UPDATE),
    "delete": compact(row_record([{"id": "1"}], kind="DELETE")),
    "packed": compact(row_record([{"id": "1"}, {"id": "2"}], orders="0,1", key=False)),
    "without key": INSERT._replace(key=None),
    "paid": compact(row_record([{"id": "1"}], tags=["paid"])),
    "of another table": compact(row_record([{"id": "1"}], table="lines")),
    "of another topic": INSERT._replace(topic="crm"),
    "full headers": compact(row_record([{"id": "1"}], real="shop_1.orders")),
    "partial": compact(
        row_record([{"id": "1"}], kind="UPDATE", old=[{}], unknown='{"old":["id"]}')
    ),
    "claim": CLAIM,
    "claim in the form of a row": compact(CLAIM, data=[{"id": "1"}], mysqlType={"id": "bigint"}),
    "tombstone": INSERT._replace(value=None),
    "statement": compact(
        row_record([{"id": "1"}], kind="ALTER"), data=None, pkNames=None, sql="ALTER …", isDdl=True
    ),
    "no order": INSERT._replace(headers=()),
    "broken order": INSERT._replace(headers=(("order", b"0000000001000.000000000000000000x"),)),
    "broken row": INSERT._replace(value=(INSERT.value or b"").replace(b'"1"', b"")),
    "two rows, one order": INSERT._replace(value=(INSERT.value or b"").replace(b"}]", b"},{}]", 1)),
    "spaces": row_record([{"id": "1"}]),
    "cut": INSERT._replace(value=(INSERT.value or b"")[:-1]),
    "key that is no text": INSERT._replace(key=b'["shop.orders","\xff"]'),
}


def outcome(decoder: Decoder, record: Record) -> Any:
    """All fields of the changes, or the error."""
    try:
        return [(repr(c), c.types, c.before, c.after, c.values) for c in decoder.changes(record)]
    except ClientError as exc:
        return repr(exc)


@pytest.mark.parametrize("selection", [ORDERS, PAID, Selection(lambda _name: True)])
@given(st.lists(st.sampled_from(sorted(RECORDS)), max_size=12))
def test_a_record_has_the_same_changes_whatever_came_before(
    selection: Selection, names: list[str]
) -> None:
    decoder = Decoder(selection, READING)
    for name in names:
        alone = outcome(Decoder(selection, READING), RECORDS[name])
        assert outcome(decoder, RECORDS[name]) == alone, name


@pytest.mark.parametrize("first", sorted(RECORDS))
def test_each_two_neighbours_are_decoded_as_if_alone(first: str) -> None:
    for second, record in RECORDS.items():
        alone = outcome(Decoder(ORDERS, READING), record)
        decoder = Decoder(ORDERS, READING)
        outcome(decoder, RECORDS[first])
        assert [outcome(decoder, record) for _ in range(2)] == [alone, alone], second


def test_a_table_that_leaves_a_topic_is_asked_for_at_each_record() -> None:
    here = {"shop.orders"}
    selection = Selection(lambda _name: True, reads=lambda name, _topic: name in here)
    decoder = Decoder(selection, READING)
    assert [len(decoder.changes(INSERT)) for _ in range(2)] == [1, 1]
    here.clear()
    assert decoder.changes(INSERT) == []


def test_a_message_without_old_is_corrupt_after_a_whole_one_with_the_same_text_around() -> None:
    decoder = Decoder(ORDERS, READING)
    for _ in range(2):
        assert len(decoder.changes(UPDATE)) == 1
    with pytest.raises(CorruptMessage):
        decoder.changes(RECORDS["update without old"])
    with pytest.raises(CorruptMessage):
        changes_of(RECORDS["update without old"], ORDERS, READING)
