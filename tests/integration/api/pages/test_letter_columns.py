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


@pytest.mark.parametrize("letter", [LETTER, FOREIGN])
def test_a_value_with_masked_columns_is_not_returned(masked: httpx.Client, letter: str) -> None:
    own = f"/api/v1/instances/shop/dead-letters/{letter}"
    refused = masked.get(f"{own}/value")
    assert (refused.status_code, refused.json()["code"]) == (409, "VALUE_HIDDEN")
    for path in (own, f"{own}/rows", f"{own}/value", f"/dead-letters/shop/{letter}"):
        text = masked.get(path).text
        for hidden in ("a@b.c", "x@y.z"):
            assert hidden not in text, path
    assert f"{own}/value" not in masked.get(f"/dead-letters/shop/{letter}").text


def test_a_value_without_masked_columns_is_returned_byte_for_byte(masked: httpx.Client) -> None:
    value = masked.get(f"/api/v1/instances/shop/dead-letters/{PACKED}/value")
    assert (value.status_code, len(value.json()["data"])) == (200, 120)


def test_a_key_is_hidden_where_a_mask_may_cover_it(
    kafka: Kafka, zookeeper: ZooKeeper, fresh_name: FreshName
) -> None:
    name, key = fresh_name("keys"), {**MASK, "columns": "shop_01.user.id"}
    with admin_with_letters(zookeeper.hosts, kafka.bootstrap, name, masks=[key]) as client:
        own = f"/api/v1/instances/shop/dead-letters/{LETTER}"
        for path in ("/api/v1/dead-letters", "/api/v1/instances/shop/dead-letters"):
            ((shown, hidden),) = [(e["key"], e["key_hidden"]) for e in client.get(path).json()]
            assert (shown, hidden) == (None, True), path
        assert client.get(own).json()["key_hidden"] is True
        for path in ("/dead-letters", f"/dead-letters/shop/{LETTER}", own, f"{own}/rows"):
            assert 'shop.client\\",\\"7' not in client.get(path).text, path
            assert "shop.client&#34;,&#34;7" not in client.get(path).text, path


def test_keys_are_shown_beside_masks_of_other_columns(masked: httpx.Client) -> None:
    keys = {e["id"]: e["key"] for e in masked.get("/api/v1/dead-letters").json()}
    assert keys == {LETTER: '["shop.client","7"]', PACKED: '["shop.client","7"]', FOREIGN: None}
