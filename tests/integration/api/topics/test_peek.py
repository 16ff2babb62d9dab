"""Messages of a logical table as a stream and as a page, on a real Kafka and a real ZooKeeper."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import Any

import httpx
import pytest
from confluent_kafka.admin import AdminClient

from api.routers.streams import follower
from api.services.peek.slots import MOST_OF_A_CALLER
from deploy.embedded import Kafka, ZooKeeper
from tests.servers.fixtures import FreshName
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.relays.peeked import SECRET, Feed, peeked_admin
from tests.support.waiting import wait_until

PEEK = "/api/v1/peek"
HTML = {"Accept": "text/html"}
Served = tuple[httpx.Client, Feed]


@pytest.fixture(scope="module")
def served(zookeeper: ZooKeeper, kafka: Kafka, fresh_name: FreshName) -> Iterator[Served]:
    with peeked_admin(zookeeper.hosts, kafka.bootstrap, fresh_name("peek")) as found:
        yield found


@contextmanager
def stream(client: httpx.Client, **query: str) -> Iterator[Iterator[tuple[str, dict[str, Any]]]]:
    """Follow `shop.client`, and return its events once the stream has begun."""
    asked = {"table": "shop.client", **query}
    sent = client.stream("POST", PEEK, json=asked) if "key" in asked else None
    with sent or client.stream("GET", PEEK, params=asked) as answer:
        assert answer.status_code == 200, answer.read()
        lines = answer.iter_lines()
        assert next(lines).startswith("retry: ")
        yield events(lines)


def events(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    kind = number = ""
    for line in lines:
        if line.startswith("id: "):
            number = line.removeprefix("id: ")
        elif line.startswith("event: "):
            kind = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield kind, {**json.loads(line.removeprefix("data: ")), "event_id": number}


def rows(found: Iterator[tuple[str, dict[str, Any]]], most: int) -> list[dict[str, Any]]:
    return list(islice((data for kind, data in found if kind == "row"), most))


def test_a_stream_brings_rows_of_its_table_that_are_committed_after_it_began(
    served: Served,
) -> None:
    client, feed = served
    feed.row("INSERT", "before")
    with stream(client) as found:
        feed.row("INSERT", "of-another-table", table="orders")
        feed.row("UPDATE", "17", {"state": "open"})
        feed.row("DELETE", "18")
        update, delete = rows(found, 2)
    assert (update["key"], update["operation"], update["summary"]) == (
        "17",
        "UPDATE",
        "state: open to paid",
    )
    assert (delete["key"], delete["summary"]) == ("18", "whole row")
    state = {each["name"]: each for each in update["columns"]}["state"]
    assert (state["before"], state["after"], state["changed"]) == ("open", "paid", True)
    assert update["headers"]["real"] == "shop_01.client"
    assert update["tags"] == ["client"]
    assert update["order"].startswith("1795427528131.")


def test_masked_and_omitted_columns_never_appear(served: Served) -> None:
    client, feed = served
    feed.row("UPDATE", "19", {"email": SECRET, "notes": "former-note"})
    with stream(client, key="19", **{"from": "last"}) as found:
        row = rows(found, 1)[0]
    page = client.get("/peek", params={"table": "shop.client"}, headers=HTML)
    for text in (json.dumps(row), page.text):
        assert SECRET not in text
        assert "private" not in text
        assert "former-note" not in text
    assert row["summary"] == "email"
    names = {each["name"]: each for each in row["columns"]}
    assert "notes" not in names
    assert (names["email"]["hidden"], names["email"]["after"]) == (True, None)


def test_a_key_filter_shows_all_rows_of_the_key_and_without_one_five_a_second(
    served: Served,
) -> None:
    client, feed = served
    with stream(client, key="filtered") as found:
        feed.rows("INSERT", [f"filtered-{number}" for number in range(40)])
        assert len(rows(found, 40)) == 40
    with stream(client) as found:
        feed.rows("INSERT", [f"many-{number}" for number in range(40)])
        shown, seen = 0, 0
        for kind, data in found:
            shown += kind == "row"
            seen += data["seen"] if kind == "count" else 0
            if seen >= 40:
                break
    assert seen == 40
    assert shown <= 10  # five at once, and at most five more within the second


def test_a_broken_stream_continues_where_its_last_count_was(served: Served) -> None:
    client, feed = served
    with stream(client, key="continued") as found:
        feed.row("INSERT", "continued-1")
        (row,) = rows(found, 1)
        place = next(data["event_id"] for kind, data in found if kind == "count")
    feed.row("INSERT", "continued-2")
    with stream(client, key="continued", after=place) as found:
        assert [each["key"] for each in rows(found, 1)] == ["continued-2"]
    assert row["key"] == "continued-1"


def test_who_may_not_read_values_sees_names_and_places_alone(
    zookeeper: ZooKeeper, kafka: Kafka, fresh_name: FreshName
) -> None:
    with peeked_admin(zookeeper.hosts, kafka.bootstrap, fresh_name("masked")) as (client, feed):
        feed.row("UPDATE", "7781", {"state": "formerly"})
        del client.headers["Authorization"]
        with stream(client, **{"from": "last"}) as found:
            (row,) = rows(found, 1)
        refused = client.post(PEEK, json={"table": "shop.client", "key": "7"})
        page = client.get("/peek", params={"table": "shop.client"}, headers=HTML)
    told = json.dumps({**row, "order": "", "published_ms": 0})
    for text in (told, page.text):
        assert "7781" not in text
        assert "formerly" not in text
        assert '"paid"' not in text
    assert row["summary"] == "state"
    assert (refused.status_code, refused.json()["code"]) == (403, "RIGHT_MISSING")


def test_the_page_without_script_shows_the_newest_and_one_with_its_columns(
    served: Served,
) -> None:
    client, feed = served
    feed.row("UPDATE", "on-the-page", {"state": "formerly"})
    query = {"table": "shop.client", "key": "on-the-page"}
    page = client.post("/peek", data=query, headers=HTML)
    assert page.status_code == 200
    assert page.text.count("on-the-page</button>") == 1
    assert "formerly" in page.text
    place = re.findall(r'name="m" value="([^"]+)"', page.text)[0]
    opened = client.post("/peek", data={**query, "m": place}, headers=HTML)
    assert "formerly" in opened.text
    chosen = client.get(f"/peek?table=shop.client&from=now&m={place}", headers=HTML)
    assert "formerly" in chosen.text
    gone = client.get("/peek?table=shop.client&m=0:99999999:0", headers=HTML)
    assert "not in the topic any more" in gone.text


def test_a_key_is_in_no_address(served: Served) -> None:
    """Access logs and histories of browsers hold addresses, and keys name persons."""
    client, feed = served
    feed.row("INSERT", "jane-roe")
    page = client.post("/peek", data={"table": "shop.client", "key": "jane-roe"}, headers=HTML)
    links = re.findall(r'(?:href|action|src|hx-get|hx-post|data-row|data-peek)="([^"]*)', page.text)
    assert "jane-roe" in page.text
    assert [each for each in links if "jane-roe" in each] == []
    for path in ("/peek", PEEK):
        refused = client.get(path, params={"table": "shop.client", "key": "jane-roe"})
        assert (refused.status_code, "by POST" in refused.text) == (400, True)
    plain = client.post("/peek", data={"table": "shop.client", "key": " ", "from": "1h"})
    assert plain.status_code == 303
    assert plain.headers["location"] == "./peek?table=shop.client&from=1h"


def test_an_unknown_table_is_answered_with_names_that_are_written_alike(served: Served) -> None:
    client, _ = served
    answer = client.get(PEEK, params={"table": "shop.clinet"})
    assert (answer.status_code, answer.json()["code"]) == (404, "NOTHING_TO_PEEK")
    assert "did you mean shop.client" in answer.json()["detail"]
    page = client.get("/peek?table=shop.clinet", headers=HTML)
    assert page.status_code == 404
    assert 'href="./peek?table=shop.client"' in page.text
    later = client.get(PEEK, params={"table": "crm.lead"})
    assert later.status_code == 404
    assert "Kafka has no topic" in later.json()["detail"]
    start = client.get(PEEK, params={"table": "shop.client", "from": "yesterday"})
    assert (start.status_code, start.json()["code"]) == (400, "BAD_REQUEST")


def test_no_group_is_left_and_a_reader_that_leaves_frees_its_place(
    served: Served, kafka: Kafka
) -> None:
    client, _ = served
    for _ in range(2):  # in the second round, the places of the readers of the first one
        with ExitStack() as stack:
            for _ in range(MOST_OF_A_CALLER):
                wait_until(lambda: takes_a_place(stack, client), "the places of readers that left")
            busy = client.get(PEEK, params={"table": "shop.client"})
            assert (busy.status_code, busy.json()["code"]) == (429, "PEEKS_BUSY")
            assert busy.headers["retry-after"] == "5"
    listed = AdminClient({"bootstrap.servers": kafka.bootstrap}).list_consumer_groups().result(60)
    assert not [each.group_id for each in listed.valid if "roma.no" in each.group_id]


def takes_a_place(open_streams: ExitStack, client: httpx.Client) -> bool:
    """Whether one more reader is accepted; it then reads until the stack ends."""
    with ExitStack() as stack:
        answer = stack.enter_context(client.stream("GET", PEEK, params={"table": "shop.client"}))
        if answer.status_code != 200:
            return False
        open_streams.push(stack.pop_all())
    return True


def test_looking_is_in_the_audit_trail_once_for_a_table_and_never_with_the_key(
    served: Served,
) -> None:
    client, feed = served
    feed.row("INSERT", "audited")
    for _ in range(2):
        client.post("/peek", data={"table": "shop.client", "key": "audited"}, headers=HTML)

    def noted() -> list[dict[str, Any]]:
        found = client.get("/api/v1/audit", params={"act": "table.peeked"}).json()
        return [each for each in found if each["after"]["key_filter"]]

    wait_until(lambda: bool(noted()), "the entry in the audit trail")
    (entry,) = noted()
    assert (entry["actor"], entry["after"]["table"]) == ("api.token", "shop.client")
    assert "audited" not in json.dumps(entry)


def test_a_stream_ends_with_its_token(
    served: Served, monkeypatch: pytest.MonkeyPatch, zookeeper: ZooKeeper
) -> None:
    monkeypatch.setattr(follower, "_RIGHTS_SECONDS", 0.2)
    client, _ = served
    body = {"role": "viewer", "values": True, "password": "correct horse battery"}
    made = client.put("/api/v1/users/ann", json=body, headers={"If-None-Match": "*"})
    assert made.status_code == 201, made.text
    token = client.put("/api/v1/tokens/bot", json={"owner": "ann", "role": "viewer", "days": 1})
    assert token.status_code == 201, token.text
    headers = {"Authorization": f"Bearer {token.json()['token']}"}
    with (
        httpx.Client(base_url=client.base_url, headers=headers, trust_env=False, timeout=60) as bot,
        stream(bot) as found,
    ):
        assert client.delete("/api/v1/tokens/bot").status_code == 204
        assert [kind for kind, _ in found if kind == "row"] == []  # it ends


@pytest.mark.long
def test_a_dead_broker_ends_in_a_sentence_and_blocks_nobody(
    zookeeper: ZooKeeper, new_kafka: Callable[..., Kafka], fresh_name: FreshName
) -> None:
    broker = new_kafka()
    with peeked_admin(zookeeper.hosts, broker.bootstrap, fresh_name("dead")) as (client, feed):
        feed.row("INSERT", "1")
        with stream(client, **{"from": "last"}) as found:
            assert rows(found, 1)
            broker.kill()
            problem = next(data for kind, data in found if kind == "problem")
        assert problem["code"] == "BROKER_UNREACHABLE"
        answer = client.get(PEEK, params={"table": "shop.client"})
        assert (answer.status_code, answer.json()["code"]) == (503, "BROKER_UNREACHABLE")
        page = client.get("/peek?table=shop.client", headers=HTML)
        assert page.status_code == 503
        assert "BROKER_UNREACHABLE" in page.text
        assert 'name="table"' in page.text  # the form stays


def test_without_a_mapping_the_page_says_what_is_missing(
    zookeeper: ZooKeeper, fresh_name: FreshName
) -> None:
    with admin_client(admin_settings(zookeeper.hosts, fresh_name("empty"))) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        page = client.get("/peek", headers=HTML)
        assert page.status_code == 200
        assert "No logical table yet" in page.text
