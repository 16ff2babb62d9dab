"""The audit trail and dead letters on a real broker, over HTTP and as pages."""

import json
from collections.abc import Iterator

import httpx
import pytest
from confluent_kafka import Producer

from deploy.embedded import Kafka, ZooKeeper
from relay.envelope import order_text
from tests.servers.fixtures import FreshName
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.relays.kept_back import LETTER, VALUE, admin_with_letters
from tests.support.rows.topic_reading import read_topic
from tests.support.waiting import wait_until

LETTER_PAGE = f"/dead-letters/shop/{LETTER}"


@pytest.fixture(scope="module")
def installation(fresh_name: FreshName) -> str:
    return fresh_name("letters")


@pytest.fixture(scope="module")
def admin(kafka: Kafka, zookeeper: ZooKeeper, installation: str) -> Iterator[httpx.Client]:
    with admin_with_letters(zookeeper.hosts, kafka.bootstrap, installation) as client:
        yield client


def acts(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [each["act"] for each in answer.json()]


def put_changes(bootstrap: str, topic: str) -> None:
    """Send an older change of the letter's key, two newer ones, the second with a further tag, and
    one of another key.
    """
    own, at, position = b'["shop.client","7"]', 1_767_225_600_000, 4_503_650_927_935_488
    changes = [(own, -1), (own, 1), (own, 2), (own, 2), (b'["shop.client","8"]', 3)]
    producer = Producer({"bootstrap.servers": bootstrap})
    for key, after in changes:
        header = order_text(at, position + after).encode()
        producer.produce(topic, b"{}", key, 0, headers=[("order", header)])
    assert producer.flush(20) == 0


def test_entries_by_filter_and_pages_by_time(admin: httpx.Client) -> None:
    newest = admin.get("/api/v1/audit", params={"limit": 1, "before": 3000})
    assert acts(newest) == ["flow.set"]
    assert newest.headers["x-older-before"] == "2000"
    oldest = admin.get("/api/v1/audit", params={"limit": 2, "before": 2000})
    assert acts(oldest) == ["position.set"]
    assert "x-older-before" not in oldest.headers
    assert acts(admin.get("/api/v1/audit", params={"actor": "bob"})) == ["flow.set"]
    assert acts(admin.get("/api/v1/audit", params={"act": "position"})) == ["position.set"]


def test_the_export_has_one_entry_a_line(admin: httpx.Client) -> None:
    export = admin.get("/api/v1/audit", params={"format": "jsonl", "actor": "ann"})
    assert export.headers["content-type"].startswith("application/jsonl")
    assert [json.loads(line)["at_ms"] for line in export.text.splitlines()] == [3000, 1000]


def test_the_audit_page_shows_entries_and_filters(admin: httpx.Client) -> None:
    page = admin.get("/audit")
    assert page.status_code == 200
    assert "&lt;b&gt;disk&lt;/b&gt;" in page.text
    found = admin.get("/audit", params={"who": "ann", "act": "position.set"})
    assert "poison" in found.text
    assert "second shard" not in found.text
    assert "No entry matches the filter." in admin.get("/audit", params={"who": "nobody"}).text


def test_letters_of_all_instances(admin: httpx.Client) -> None:
    (letter,) = admin.get("/api/v1/dead-letters").json()
    assert (letter["id"], letter["instance"], letter["key"]) == (
        LETTER,
        "shop",
        '["shop.client","7"]',
    )
    assert admin.get("/api/v1/dead-letters", params={"instance": "none"}).status_code == 404
    page = admin.get("/dead-letters")
    assert f'href="./dead-letters/shop/{LETTER}"' in page.text
    assert VALUE.decode() not in page.text


def test_a_reader_without_the_right_values_sees_the_list_without_keys_and_values(
    admin: httpx.Client,
) -> None:
    nobody = {"Authorization": ""}
    (letter,) = admin.get("/api/v1/dead-letters", headers=nobody).json()
    assert (letter["id"], letter["real"], letter["code"]) == (
        LETTER,
        "shop_01.user",
        "MESSAGE_TOO_LARGE",
    )
    assert (letter["key"], letter["key_hidden"]) == (None, True)
    own = f"/api/v1/instances/shop/dead-letters/{LETTER}"
    assert admin.get(own, headers=nobody).json()["key_hidden"] is True
    rows = admin.get(f"{own}/rows", headers=nobody).json()["rows"]
    assert [each["name"] for each in rows[0]["columns"]] == ["id", "note", "mail"]
    for path in ("/dead-letters", LETTER_PAGE, own, f"{own}/rows", "/api/v1/dead-letters"):
        answer = admin.get(path, headers=nobody)
        assert answer.status_code == 200, path
        for value in ("private", "a@b.c", "shop.client&#34;", 'shop.client\\"'):
            assert value not in answer.text, path
    assert admin.get(f"{own}/value", headers=nobody).status_code == 401
    assert admin.post(f"{LETTER_PAGE}/replay", headers=nobody).status_code == 401


def test_a_damaged_letter_is_a_line_with_its_offset_and_the_others_stay_usable(
    kafka: Kafka, zookeeper: ZooKeeper, fresh_name: FreshName
) -> None:
    name = fresh_name("damaged")
    with admin_with_letters(zookeeper.hosts, kafka.bootstrap, name) as client:
        topic = f"{name}.dead-letters.shop"
        producer = Producer({"bootstrap.servers": kafka.bootstrap})
        producer.produce(topic, b'{"part":1,"parts":2,"sha256":"x"}\nx', b"0007-0", 0)
        producer.produce(topic, b"\xff<b>", b"<i>", 0)
        assert producer.flush(20) == 0
        listed = client.get("/api/v1/dead-letters").json()
        assert [(each["id"], each["damaged"], each["record_offset"]) for each in listed] == [
            ("<i>", True, 2),
            ("0007-0", True, 1),
            (LETTER, False, 0),
        ]
        assert "these are missing in the topic: 2." in listed[1]["reason"]
        assert (listed[0]["code"], bool(listed[0]["remedy"])) == ("DEAD_LETTER_DAMAGED", True)
        page = client.get("/dead-letters").text
        for told in (
            "offset 2",
            "offset 1",
            "&lt;i&gt;",
            "these are missing in the topic: 2.",
            LETTER,
        ):
            assert told in page
        assert "<i>" not in page
        assert client.get(LETTER_PAGE).status_code == 200
        broken = client.get("/api/v1/instances/shop/dead-letters/0007-0")
        assert broken.json()["code"] == "DEAD_LETTER_DAMAGED"
        sent = {"comment": "x", "confirm": LETTER}
        assert client.post(f"{LETTER_PAGE}/replay", data=sent).status_code == 303


def test_a_letter_is_shown_and_sent_once(
    admin: httpx.Client, kafka: Kafka, installation: str
) -> None:
    one = admin.get(f"/api/v1/instances/shop/dead-letters/{LETTER}").json()
    assert (one["fits_now"], one["message_bytes"] > len(VALUE)) == (True, True)
    page = admin.get(LETTER_PAGE)
    assert f"Messages up to {one['topic_limit_bytes']:,} bytes." in page.text
    assert "it fits." in page.text
    assert "&lt;b&gt;private&lt;/b&gt;" in page.text
    assert admin.get("/dead-letters/shop/none").status_code == 404
    person = {"Accept": "text/html"}
    other = {"comment": "x", "confirm": "other"}
    wrong = admin.post(f"{LETTER_PAGE}/replay", data=other, headers=person)
    assert (wrong.status_code, "data-open" in wrong.text) == (400, True)
    assert read_topic(kafka.bootstrap, installation) == []
    form = {"comment": "the topic is wider now", "confirm": LETTER}
    sent = admin.post(f"{LETTER_PAGE}/replay", data=form)
    assert (sent.status_code, sent.headers["location"]) == (303, f"../{LETTER}?done=letter-sent")
    assert [each.value for each in read_topic(kafka.bootstrap, installation)] == [json.loads(VALUE)]
    twice = admin.post(f"{LETTER_PAGE}/replay", data=form, headers=person)
    assert (twice.status_code, "data-open" in twice.text) == (409, True)
    assert 'value="the topic is wider now"' in twice.text
    assert len(read_topic(kafka.bootstrap, installation)) == 1
    assert "No dead letter has this status." in admin.get("/dead-letters").text
    assert LETTER in admin.get("/dead-letters", params={"show": "sent"}).text
    assert "dead-letter.replay" in admin.get("/audit").text


def test_later_changes_of_the_key_are_counted(
    kafka: Kafka, zookeeper: ZooKeeper, fresh_name: FreshName
) -> None:
    name = fresh_name("later")
    with admin_with_letters(zookeeper.hosts, kafka.bootstrap, name) as client:
        none = f"{name} has no newer change of its key."
        assert none in client.get(LETTER_PAGE).text
        put_changes(kafka.bootstrap, name)
        later = client.get(f"/api/v1/instances/shop/dead-letters/{LETTER}").json()["later"]
        assert (later["count"], later["is_whole"], later["newest_ms"] > 0) == (2, True, True)
        page = client.get(LETTER_PAGE).text
        assert page.count(f"{name} has 2 newer changes of its key") == 2
        assert none not in page


def test_a_broker_that_is_away_is_named(zookeeper: ZooKeeper, fresh_name: FreshName) -> None:
    with admin_client(admin_settings(zookeeper.hosts, fresh_name("away"))) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        away = client.get("/audit", headers={"Accept": "text/html"})
        assert (away.status_code, "127.0.0.1:1" in away.text) == (200, True)
        assert "<h2>Kafka does not answer</h2>" in away.text
        assert "Not shown: the entries and their check." in away.text
        assert "No operator has changed anything yet." not in away.text
