"""The columns of a dead letter before and after, over HTTP and on its page."""

import json
from collections.abc import Iterator

import httpx
import pytest

from deploy.embedded import Kafka, ZooKeeper
from relay.settings import KafkaSettings
from tests.servers.fixtures import FreshName
from tests.support.relays.kept_back import LETTER, VALUE, admin_with_letters, put_letter

MASK = {"columns": "shop_01.user.mail", "method": "hash", "salt": "s"}
PACKED, FOREIGN = "0002-0", "0003-0"


@pytest.fixture(scope="module")
def masked(kafka: Kafka, zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[httpx.Client]:
    name = fresh_name("columns")
    settings = KafkaSettings(
        bootstrap_servers=kafka.bootstrap, replication_factor=1, min_insync_replicas=1
    )
    rows = [{"id": str(number), "note": f"n{number}"} for number in range(120)]
    packed = {**json.loads(VALUE), "data": rows, "old": None, "type": "INSERT"}
    put_letter(settings, name, "shop", json.dumps(packed).encode(), PACKED)
    put_letter(settings, name, "shop", b'{"before":null,"after":{"mail":"x@y.z"}}', FOREIGN)
    with admin_with_letters(zookeeper.hosts, kafka.bootstrap, name, masks=[MASK]) as client:
        yield client


def test_columns_before_and_after_with_masks(masked: httpx.Client) -> None:
    found = masked.get(f"/api/v1/instances/shop/dead-letters/{LETTER}/rows").json()
    assert (found["count"], found["note"], found["hides"]) == (1, "", True)
    columns = {each["name"]: each for each in found["rows"][0]["columns"]}
    assert (columns["note"]["before"], columns["note"]["after"]) == ("open", "<b>private</b>")
    assert (columns["note"]["changed"], columns["note"]["type"]) == (True, "text")
    assert (columns["mail"]["hidden"], columns["mail"]["after"]) == (True, None)
    page = masked.get(f"/dead-letters/shop/{LETTER}").text
    assert "<caption" in page
    assert "&lt;b&gt;private&lt;/b&gt;" in page
    assert "a@b.c" not in page
    assert "The text of the value is not shown here" in page


def test_a_packed_message_is_shown_in_parts(masked: httpx.Client) -> None:
    first = masked.get(f"/dead-letters/shop/{PACKED}").text
    assert "Row 1 of 120" in first
    assert "Row 51 of 120" not in first
    assert f"{PACKED}?row=50#rows" in first
    last = masked.get(f"/dead-letters/shop/{PACKED}", params={"row": 100}).text
    assert "Row 120 of 120" in last
    assert "Next rows" not in last
    assert f"{PACKED}?row=50#rows" in last
    assert "No such row" in masked.get(f"/dead-letters/shop/{PACKED}?row=500").text
    asked = {"first": 118, "limit": 5}
    found = masked.get(f"/api/v1/instances/shop/dead-letters/{PACKED}/rows", params=asked).json()
    assert ([each["row"] for each in found["rows"]], found["hides"]) == ([118, 119], False)


def test_a_message_of_another_format_has_no_columns_and_no_text_under_a_mask(
    masked: httpx.Client,
) -> None:
    page = masked.get(f"/dead-letters/shop/{FOREIGN}").text
    assert "The message has the format debezium-json." in page
    assert "x@y.z" not in page


def test_rows_need_the_right_values(masked: httpx.Client) -> None:
    rows = f"/api/v1/instances/shop/dead-letters/{LETTER}/rows"
    assert masked.get(rows, headers={"Authorization": ""}).status_code == 401
