"""A message that is sent later does not replace a newer row, and its readers can read it."""

from collections.abc import Iterator
from time import time
from typing import Any

import pytest

from relay.dead_letters import (
    DeadLetter,
    LastOfKey,
    check_form,
    forgets_after_ms,
    last_of_key,
)
from relay.encode import without_number
from relay.envelope import Header, order_text
from relay.errors import ReplayRefused
from relay.kafka import ScannedRecord, TopicState
from relay.model.message import Headers, OutboundMessage
from relay.settings import InstanceSettings, KafkaSettings

KEY = b'["shop.t","7"]'
NOW_MS = int(time() * 1000)
INSTANCE = InstanceSettings.model_validate(
    {
        "name": "shop",
        "source": {"host": "h", "user": "u", "server_id": 7},
        "registry": {"url": "http://registry"},
        "topic": {"rules": [{"topics": "avro*", "format": "avro"}]},
    }
)
BLOCK = b',"transaction":{"id":"a","total_order":1,"data_collection_order":1},"source":{}'


def headers(position: int) -> Headers:
    return ((Header.ORDER.value, order_text(1, position).encode()),)


def letter(value: bytes = b'{"data":[]}', topic: str = "t", partition: int = 0) -> DeadLetter:
    message = OutboundMessage(topic, partition, KEY, value, headers(10))
    return DeadLetter(
        "10-1", "MESSAGE_TOO_LARGE", "", "shop.t", "shop.t", "b.1", 4, "", 1, 10, message,
        len(value), written_ms=NOW_MS,
    )  # fmt: skip


def record(offset: int, position: int, key: bytes = KEY, value: bytes | None = b"x") -> Any:
    return ScannedRecord(0, offset, key, value, headers(position))


class Partition:
    """A partition that gets further records at each scan."""

    def __init__(self, *scans: list[ScannedRecord]) -> None:
        self._scans = list(scans)
        self._records: list[ScannedRecord] = []

    def __call__(self, start: int) -> Iterator[ScannedRecord]:
        self._records += self._scans.pop(0) if self._scans else []
        return iter([each for each in self._records if each.offset >= start])


def test_older_rows_of_the_key_and_newer_ones_of_others_do_not_refuse_a_replay() -> None:
    sent = record(9, 10, value=letter().message.value)
    last = LastOfKey(
        letter(), Partition([record(3, 9), record(4, 10), record(5, 11, b"other")], [], [sent])
    )
    last.check(None)
    last.check_sent()


@pytest.mark.parametrize(
    "newer",
    [record(6, 11), record(6, 11, value=None), ScannedRecord(0, 6, KEY, b"x", ())],
)
def test_a_newer_row_its_tombstone_or_one_of_unknown_order_refuses_it(newer: ScannedRecord) -> None:
    with pytest.raises(ReplayRefused, match="offset 6 of t"):
        LastOfKey(letter(), Partition([record(3, 9), newer])).check(None)
    last = LastOfKey(letter(), Partition([record(3, 9)], [newer]))
    last.check(None)
    with pytest.raises(ReplayRefused, match="offset 6 of t"):
        last.check_sent()


def test_a_key_without_records_may_be_deleted_once_tombstones_are_gone() -> None:
    for records, forgets_ms in (([], None), ([], 3_600_000), ([record(3, 9)], 0)):
        LastOfKey(letter(), Partition(records)).check(forgets_ms)
    with pytest.raises(ReplayRefused, match="may have been deleted"):
        LastOfKey(letter(), Partition([record(3, 9, b"other")])).check(0)
    state = TopicState("t", 1, 1, {"delete.retention.ms": "5000"})
    assert (
        forgets_after_ms(state, tombstones=True),
        forgets_after_ms(state, tombstones=False),
    ) == (
        5000,
        None,
    )


@pytest.mark.parametrize(
    ("policy", "checked"), [("compact", True), ("compact,delete", True), ("delete", False)]
)
def test_topics_that_keep_the_last_record_of_a_key_are_checked(
    policy: str, *, checked: bool
) -> None:
    state = TopicState("t", 1, 1, {"cleanup.policy": policy})
    kafka = KafkaSettings(bootstrap_servers="x")
    assert (last_of_key(kafka, letter(), state) is not None) is checked


@pytest.mark.parametrize(
    ("value", "topic", "reason"),
    [
        (b'{"data":[]}', "t", None),
        (b'{"before":null}', "t", "debezium-json, and t has canal-json"),
        (b'{"data":[]}', "avro_t", "canal-json, and avro_t has avro"),
        (b"\0\0\0\0\7abc", "avro_t", None),
        (b"\0\0\0\0\7abc", "t", "avro or json-schema or protobuf, and t has canal-json"),
        (b"?", "t", None),
    ],
)
def test_a_message_of_another_format_than_its_topic_is_refused(
    value: bytes, topic: str, reason: str | None
) -> None:
    state = TopicState(topic, 4, 1, {})
    if reason is None:
        check_form(letter(value, topic), INSTANCE, state)
    else:
        with pytest.raises(ReplayRefused, match=reason):
            check_form(letter(value, topic), INSTANCE, state)


def test_a_message_for_a_partition_that_its_topic_lacks_is_refused() -> None:
    state = TopicState("t", 4, 1, {})
    check_form(letter(partition=3), INSTANCE, state)
    with pytest.raises(ReplayRefused, match="partition 4 of t, which has 4"):
        check_form(letter(partition=4), INSTANCE, state)


@pytest.mark.parametrize("head", [b"\0\0\0\0\7", b'{"database":"shop","data":{"j":{"a":1'])
def test_a_text_that_looks_like_the_block_of_numbers_stays_in_other_formats(head: bytes) -> None:
    value = head + BLOCK
    assert without_number(value) == value


@pytest.mark.parametrize("head", [b'{"before":null', b'{"schema":{},"payload":{"before":null'])
def test_debezium_messages_lose_their_number(head: bytes) -> None:
    assert without_number(head + BLOCK) == head + b',"transaction":null,"source":{}'
