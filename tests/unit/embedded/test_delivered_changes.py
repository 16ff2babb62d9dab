"""Which changes were given, and the position after the last of them."""

from collections.abc import Sequence

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.embedded.delivered_changes import DeliveredChanges
from relay.embedded.local_producer import Batch
from relay.embedded.local_stores import LocalRecords
from relay.embedded.settings import EmbeddedSettings
from relay.embedded.stored_position import StoredPosition
from relay.errors import ConfigurationError
from relay.model.message import OutboundMessage
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import PositionRecord
from relay.model.table import TableId
from relay.route import TableFilter
from relay.settings import SourceSettings, checked_settings
from relay.testing import Clock, MessageMaker
from roma_client import Change
from roma_client.testing import Subscribed, changes_from


def _record(number: int) -> bytes:
    source = SourcePosition(
        BinlogPosition("binlog.000001", number), "", SourceIdentity("one", 1, 0)
    )
    return PositionRecord(source, OrderPair(0, number), 0, 0).to_bytes()


def _changes(first: int, count: int) -> list[Change]:
    maker = MessageMaker("shop", "t", {"id": "int"}, ["id"], clock=Clock(0, first - 1))
    messages = [maker.insert({"id": str(first + at)}) for at in range(count)]
    return changes_from(messages, Subscribed("shop", "t"))


def _batch(number: int, *beside: tuple[bytes, bytes | None]) -> Batch:
    return Batch(
        (), _record(number), [OutboundMessage("xa", 0, key, value, ()) for key, value in beside]
    )


def _positions(changes: Sequence[Change]) -> list[int]:
    return [each.order.execute_position for each in changes]


@given(
    sizes=st.lists(st.integers(0, 4), max_size=8),
    takes=st.lists(st.tuples(st.integers(1, 5), st.booleans()), max_size=20),
)
def test_a_restart_at_any_acknowledgement_gives_exactly_what_comes_after_it(
    sizes: list[int], takes: list[tuple[int, bool]]
) -> None:
    batches, first = [], 1
    for size in sizes:
        batches.append((first, size))
        first += size
    whole = list(range(1, first))
    saved: StoredPosition | None = None
    acked = 0
    for most, acks in takes:
        ledger = DeliveredChanges(saved)
        after = 0 if saved is None else PositionRecord.from_bytes(saved.record).source.binlog.offset
        for begin, size in batches:
            if begin + size > after or (not size and begin >= after):
                ledger.add(_batch(begin + size), _changes(begin, size))
        taken = _positions(ledger.take(most))
        assert taken == whole[acked : acked + most]
        if acks and ledger.position is not None:
            saved = StoredPosition.from_bytes(ledger.position.to_bytes())
            acked += len(taken)


def test_records_beside_the_position_belong_to_the_batches_that_were_given_whole() -> None:
    ledger = DeliveredChanges(StoredPosition(_record(1), 0, {"xa": {b"a": b"1"}}))
    ledger.add(_batch(3, (b"b", b"2")), _changes(1, 2))
    ledger.add(_batch(5, (b"a", None)), _changes(3, 2))
    kept = []
    for _ in range(4):
        ledger.take(1)
        assert ledger.position is not None
        kept.append(dict(ledger.position.kept.get("xa", {})))
    both = {b"a": b"1", b"b": b"2"}
    assert kept == [{b"a": b"1"}, both, both, {b"b": b"2"}]


def test_a_batch_without_changes_moves_the_position_only_behind_what_was_given() -> None:
    ledger = DeliveredChanges(None)
    ledger.add(_batch(3), _changes(1, 2))
    ledger.add(_batch(9), [])
    found: list[int | None] = []
    for _ in range(3):
        at = ledger.position
        found.append(None if at is None else orjson.loads(at.record)["source"]["binlog"]["offset"])
        ledger.take(1)
    assert found == [None, None, 9]
    assert not ledger.waiting


def test_a_change_that_several_topics_have_is_given_once() -> None:
    ledger = DeliveredChanges(None)
    ledger.add(_batch(3), [*_changes(1, 2), *_changes(1, 3)])
    assert _positions(ledger.take(9)) == [1, 2, 3]


def test_the_last_record_of_a_key_counts_in_the_order_of_writing() -> None:
    records = LocalRecords("xa", {b"a": b"1", b"b": b"2"})
    records.write(b"a", b"3")
    records.write(b"b", None)
    assert records.read() == {b"a": b"3"}
    assert list(records.between(*records.ends())) == [(2, b"a", b"3"), (3, b"b", None)]


def test_deletions_do_not_fill_the_memory() -> None:
    records = LocalRecords("xa", {})
    for number in range(30_000):
        records.write(str(number).encode(), b"row")
        records.write(str(number).encode(), None)
    assert len(list(records.between(*records.ends()))) <= 10_000
    assert records.read() == {}


@pytest.mark.parametrize("name", ["shop.orders", "a-b.t+1", "d.a,b", "d.(x)"])
def test_the_name_of_a_table_selects_it_alone(name: str) -> None:
    source = {"host": "db", "user": "relay"}
    settings = checked_settings(
        EmbeddedSettings, {"source": source, "tables": [name]}, "here", "all"
    )
    chosen = TableFilter(settings.instance.filter)
    database, table = name.split(".")
    assert chosen.accepts(TableId(database, table))
    assert not chosen.accepts(TableId(database, f"{table}1"))
    assert not chosen.accepts(TableId(f"x{database}", table))


def test_a_standby_is_refused() -> None:
    source = SourceSettings(host="one", user="relay", standby={"host": "two"})  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="standby"):
        checked_settings(EmbeddedSettings, {"source": source, "tables": ["a.b"]}, "here", "all")
