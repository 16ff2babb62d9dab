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


def test_rows_need_the_right_values(admin: httpx.Client) -> None:
    stranger = {"Authorization": ""}
    for path in ("/api/v1/dead-letters", "/dead-letters", LETTER_PAGE):
        assert admin.get(path, headers=stranger).status_code == 401


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
        assert (away.status_code, "127.0.0.1:1" in away.text) == (503, True)
