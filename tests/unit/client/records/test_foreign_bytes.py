"""Bytes that no relay makes end with a named error, and lose no change that came before them."""

import json
from typing import Any

import pytest

from roma_client.errors import ClaimGone, ClaimUnreadable, CorruptMessage
from roma_client.records.decoding import Reading, changes_of
from roma_client.records.moved import marker_of
from roma_client.records.record import Record
from roma_client.records.selection import Selection
from roma_client.records.transaction import report_of
from tests.support.clients.fake_consumer import FakeConsumer, opened_feed
from tests.support.clients.made_records import claimed_record, row_record

EVERY_TABLE = Selection(lambda _: True, statements=True)
DEEP = b"[" * 100_000


def altered(record: Record, **fields: Any) -> Record:
    message = json.loads(record.value or b"") | fields
    return record._replace(value=json.dumps(message).encode())


@pytest.mark.parametrize(
    "record",
    [
        row_record([{"id": "1"}])._replace(value=DEEP),
        row_record([{"id": "1"}])._replace(value=b'{"data":' + DEEP),
        altered(row_record([{"id": "1"}]), es=10**30),
        altered(row_record([{"id": "1"}]), es=-(10**17)),
        row_record([{"id": "1"}], unknown=DEEP.decode()),
    ],
)
def test_a_value_that_overflows_is_corrupt(record: Record) -> None:
    with pytest.raises(CorruptMessage, match="Record 0 of shop, partition 0"):
        changes_of(record, EVERY_TABLE, Reading())


def test_a_report_or_a_marker_that_overflows_is_corrupt() -> None:
    report = Record("tx", 0, 7, None, DEEP, ())
    with pytest.raises(CorruptMessage, match="Record 7 of tx"):
        report_of(report)
    told = {"status": "BEGIN", "id": "i:1:7", "source": "", "gtid": "", "server_id": 1}
    told |= {"file": "b", "position": 4, "execute_time": 10**30}
    with pytest.raises(CorruptMessage, match="Record 7 of tx"):
        report_of(report._replace(value=json.dumps(told).encode()))
    marker = Record("shop", 0, 8, b'{"moved":1}', None, [("moved", DEEP)])
    with pytest.raises(CorruptMessage, match="Record 8 of shop"):
        marker_of(marker)


def test_a_deep_key_without_a_value_is_no_row() -> None:
    assert changes_of(Record("shop", 0, 0, DEEP, None, ()), EVERY_TABLE, Reading()) == []


@pytest.mark.parametrize("returned", [None, "text", 7])
def test_a_claim_reader_that_returns_no_bytes_is_named_and_stores_no_dead_letter(
    returned: Any,
) -> None:
    record, _ = claimed_record({"id": "7"}, "s3://b/7")
    with pytest.raises(
        ClaimUnreadable, match=r"returned \w+ instead of bytes for s3://b/7"
    ) as told:
        changes_of(record, EVERY_TABLE, Reading("python", lambda _: returned))
    assert not isinstance(told.value, ClaimGone)


def test_an_error_that_nobody_foresaw_loses_no_change_that_came_before_it(
    consumer: FakeConsumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = opened_feed()
    changes = feed._decoder.changes  # noqa: SLF001  # the fault is made here

    def failing(record: Record) -> Any:
        if record.offset == 1:
            raise MemoryError
        return changes(record)

    monkeypatch.setattr(feed._decoder, "changes", failing)  # noqa: SLF001
    consumer.gives(*(row_record([{"id": str(at)}], offset=at) for at in (0, 1, 2)))
    assert [each.record.offset for each in feed.fetch(10, 0)] == [0]
    for _ in range(2):
        with pytest.raises(MemoryError):
            feed.fetch(10, 0)
    monkeypatch.undo()
    feed._decoder.changes = changes  # type: ignore[method-assign]  # noqa: SLF001
    assert [each.record.offset for each in feed.fetch(10, 0)] == [1, 2]
