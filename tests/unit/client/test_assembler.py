"""Transactions are whole, in the order of their commits, at least once, whatever the partitions
do.
"""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roma_client.errors import TransactionIncomplete, TransactionTooLarge
from roma_client.records.ack_book import Assignment, Receipt
from roma_client.records.pending import Moment, PendingTransaction, ReadyTransaction, Rows
from roma_client.records.transaction import transaction_id
from tests.support.clients.transaction_history import (
    REPORTS,
    ROWS,
    TIME,
    Client,
    Log,
    StoredRows,
    made_change,
    report,
)

_TABLE = st.sampled_from(["shop.a", "shop.b", "shop.not_subscribed"])
_ROWS = st.lists(st.tuples(st.integers(0, 2), _TABLE), min_size=1, max_size=5)


@st.composite
def logs(draw: st.DrawFn) -> Log:
    """A history: transactions of two instances, repeats, and rows of a snapshot between them."""
    log = Log()
    for kind in draw(st.lists(st.sampled_from("ttttorl"), max_size=10)):
        match kind:
            case "t":
                log.transaction(draw(_ROWS))
            case "r":
                log.transaction(draw(_ROWS), repeated=True)
            case "o":
                log.transaction(draw(_ROWS), instance="other")
            case _:
                log.loose(draw(st.integers(0, 2)))
    return log


@given(logs(), st.data())
def test_each_transaction_comes_once_whole_and_in_order(log: Log, data: st.DataObject) -> None:
    client = Client(log)
    client.read_all(lambda partitions: data.draw(st.sampled_from(partitions)))
    assert client.transactions() == list(log.expected.items())
    assert client.assembler.size == 0
    assert client.committed == {each: len(stored) for each, stored in log.records.items()}


@given(logs(), st.data())
def test_rows_of_no_transaction_keep_their_place_in_their_partition(
    log: Log, data: st.DataObject
) -> None:
    client = Client(log)
    client.read_all(lambda partitions: data.draw(st.sampled_from(partitions)))
    for partition in ROWS:
        stored = [
            (each.id, change.order, change.key)
            for each in log.records[partition]
            if isinstance(each, StoredRows) and not (each.id or "").startswith("other")
            for change in each.changes
            if change.table in {"a", "b"}
        ]
        seen = [
            (ready.transaction.id, change.order, change.key)
            for ready in client.seen
            if ready.transaction is not None
            for change in ready.transaction.changes
            if (ready.transaction.id, change.order, change.key) in stored
        ]
        mine = list(dict.fromkeys(stored))
        assert [each for each in dict.fromkeys(seen) if each in mine] == mine


@given(logs(), st.data())
def test_after_crashes_each_transaction_comes_at_least_once_and_never_before_an_older_one(
    log: Log, data: st.DataObject
) -> None:
    client = Client(log)
    for _ in range(data.draw(st.integers(0, 5))):
        for _ in range(data.draw(st.integers(0, 10))):
            if partitions := client.readable():
                client.read(data.draw(st.sampled_from(partitions)))
                client.process(most=data.draw(st.integers(0, 3)), commit=data.draw(st.booleans()))
        client.restart()
    client.read_all(lambda partitions: data.draw(st.sampled_from(partitions)))
    wanted = list(log.expected)
    first_seen = list(dict.fromkeys(id_ for id_, _ in client.transactions()))
    assert first_seen == wanted
    assert all(rows == log.expected[id_] for id_, rows in client.transactions())


@given(logs(), st.data())
def test_partitions_that_are_held_back_never_stop_the_client(log: Log, data: st.DataObject) -> None:
    client = Client(log)
    while partitions := client.readable():
        ahead = client.assembler.ahead()
        free = [each for each in partitions if each not in ahead]
        client.read(data.draw(st.sampled_from(free or partitions)))
        client.process()
        assert free or not ahead.issuperset(client.at)
    assert client.transactions() == list(log.expected.items())


def test_a_transaction_counts_rows_of_tables_that_are_not_subscribed() -> None:
    log = Log()
    log.transaction([(0, "shop.a"), (1, "shop.not_subscribed"), (1, "shop.not_subscribed")])
    client = Client(log)
    client.read_all()
    (ready,) = client.seen
    assert ready.transaction is not None
    assert ready.transaction.counts == {"shop.a": 1, "shop.not_subscribed": 2}
    assert len(ready.transaction.changes) == 1
    assert (ready.transaction.gtid, ready.transaction.is_whole) == ("0-1-7", True)


def test_rows_that_were_deleted_stop_the_client_or_leave_what_there_is() -> None:
    log = Log()
    gone = log.transaction([(0, "shop.a"), (1, "shop.b")], missing=1)
    log.transaction([(0, "shop.a")])
    client = Client(log)
    client.read_all()
    assert (client.seen, client.assembler.stalled is not None) == ([], True)
    with pytest.raises(TransactionIncomplete, match=r"lacks rows that its END counts: 1 of shop.b"):
        client.assembler.nothing_comes()
    client = Client(log, partial="yield")
    client.read_all()
    client.assembler.nothing_comes()
    client.process()
    assert [(_id(each), _whole(each)) for each in client.seen] == [
        (gone, False),
        (next(iter(log.expected)), True),
    ]


def _id(ready: ReadyTransaction) -> str | None:
    return None if ready.transaction is None else ready.transaction.id


def _whole(ready: ReadyTransaction) -> bool | None:
    return None if ready.transaction is None else ready.transaction.is_whole


def test_a_transaction_that_was_given_up_in_the_middle_stops_the_client() -> None:
    log = Log()
    log.transaction([(0, "shop.a")], end=False)
    log.transaction([(0, "shop.a")])
    client = Client(log)
    client.read_all()
    with pytest.raises(TransactionIncomplete, match="has a BEGIN and no END in tx"):
        client.assembler.nothing_comes()


def test_an_open_transaction_that_is_published_again_from_an_older_position_comes_once() -> None:
    log = Log()
    first = log.transaction([(0, "shop.a"), (1, "shop.b")])
    log.transaction([(0, "shop.a"), (1, "shop.a")])
    again = {each: list(stored) for each, stored in log.records.items()}
    log.records[REPORTS] = log.records[REPORTS][:3] + again[REPORTS]  # the END is not there yet
    for partition in ROWS:
        log.records[partition] += again[partition]
    for order in (list(ROWS), [REPORTS]):
        client = Client(log)
        for partition in (*order, *log.records):
            while partition in client.readable():
                client.read(partition)
        client.process()
        assert client.transactions() == list(log.expected.items())
        assert client.transactions()[0][0] == first


@given(st.data())
def test_a_group_that_begins_in_the_middle_skips_what_began_before_and_nothing_else(
    data: st.DataObject,
) -> None:
    log = Log()
    for rows in data.draw(st.lists(_ROWS, min_size=1, max_size=8)):
        log.transaction(rows)
    starts = {each: data.draw(st.integers(0, len(stored))) for each, stored in log.records.items()}
    client = Client(log, starts)
    client.read_all(lambda partitions: data.draw(st.sampled_from(partitions)))
    while client.assembler.stalled:
        client.assembler.nothing_comes()
        client.process()
    ids = [id_ for id_, _ in client.transactions()]
    assert ids == [each for each in log.expected if each in ids]
    for id_, wanted in log.expected.items():
        parts = {p for p in ROWS for each in log.records[p] if _is_of(each, id_)}
        after = {p for p in parts if not any(_is_of(e, id_) for e in log.records[p][: starts[p]])}
        reported = any(
            getattr(e, "id", None) and _report_id(e) == id_ for e in _reports(log, starts)
        )
        if after == parts and reported:
            assert (id_, wanted) in client.transactions()


def _reports(log: Log, starts: dict[tuple[str, int], int]) -> list[object]:
    return list(log.records[REPORTS][starts[REPORTS] :])


def _report_id(record: object) -> str:
    return getattr(getattr(record, "id", None), "text", "")


def _is_of(record: object, id_: str) -> bool:
    return isinstance(record, StoredRows) and record.id == id_


def test_rows_whose_reports_are_in_another_topic_stop_the_client() -> None:
    log = Log()
    log.transaction([(0, "shop.a")])
    log.records[REPORTS].clear()
    other = log.transaction([(0, "shop.a")])
    client = Client(log)
    client.read_all()
    with pytest.raises(TransactionIncomplete, match="has rows, and no BEGIN and no END"):
        client.assembler.nothing_comes()
    late = Client(log)
    late.read(REPORTS)
    with pytest.raises(TransactionIncomplete, match="has rows, and no BEGIN and no END"):
        late.read(ROWS[0])
    assert other in log.expected


def test_a_transaction_that_is_too_large_is_refused_by_name() -> None:
    log = Log()
    log.transaction([(0, "shop.a")] * 20)
    with pytest.raises(TransactionTooLarge, match="more than 100 bytes of rows"):
        Client(log, transaction_bytes=100).read_all()


def test_transactions_after_a_lost_position_are_new_although_their_numbers_begin_lower() -> None:
    log = Log(position=3 << 52)
    log.transaction([(0, "shop.a"), (1, "shop.b")])
    log.position, log.time = 1 << 52, log.time + 1
    log.transaction([(0, "shop.a")], repeated=True)
    log.transaction([(1, "shop.b"), (2, "shop.a")])
    for order in (ROWS, (REPORTS,)):
        client = Client(log)
        for partition in (*order, *log.records):
            while partition in client.readable():
                client.read(partition)
        client.process()
        assert client.transactions() == list(log.expected.items())
        client.committed = dict.fromkeys(log.records, 0)
        client.seen.clear()
        client.restart()
        client.read_all()
        assert client.transactions() == [], "all of them were acknowledged"


def test_rows_whose_reports_go_to_another_topic_from_now_on_stop_the_client() -> None:
    log = Log()
    log.transaction([(0, "shop.a")])
    client = Client(log)
    client.read_all()
    lost = StoredRows("i:0-1-7:200", (made_change("shop.a", 201),))
    log.records[ROWS[0]].append(lost)
    client.read_all()
    stalled = client.assembler.stalled
    assert stalled is not None
    assert not stalled.has_report
    with pytest.raises(TransactionIncomplete, match="200 has rows, and no BEGIN and no END in tx"):
        client.assembler.nothing_comes()
    log.records[REPORTS] += [report("i:0-1-7:200"), report("i:0-1-7:200", {"shop.a": 1})]
    client.read_all()
    assert client.transactions()[-1] == ("i:0-1-7:200", [201]), "the BEGIN was only late"


def test_all_rows_of_a_message_have_the_tags_of_its_copies() -> None:
    """`field_tags = "separate"` sends the rows of a packed message once for each tag."""
    id_ = transaction_id("i:0-1-7:100")
    pending = PendingTransaction(id_, Moment(TIME, 100))
    rows = [made_change("shop.a", 101), made_change("shop.a", 102)]
    for offset, tag in enumerate(("orders", "paid")):
        tagged = [replace(each, tags=(tag,)) for each in rows]
        pending.add(Rows(ROWS[0], id_, tagged, 1, Receipt(Assignment(ROWS[0], 0), offset), TIME))
    transaction = pending.ready().transaction
    assert transaction is not None
    assert [each.tags for each in transaction.changes] == [("orders", "paid")] * 2
