"""Mapping documents over HTTP: a real server, a real ZooKeeper."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import httpx
import pytest

from deploy.embedded import ZooKeeper
from relay.route import DBS, TAGS, TBS, TOPICS
from relay.state import Paths
from tests.servers.fixtures import FreshName
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.relays.zookeeper_sessions import session_with
from tests.support.waiting import wait_until

GROUP = "/api/v1/configs/ROMA_GROUP"
BODIES = {
    DBS: '[{"logicDb":"logicDb1","realDbs":"realDb11,realDb12"}]',
    TBS: '[{"logicTb":"logicTb1","realTbs":"realTb11,realTb12"}]',
    TOPICS: '[{"logicDb":"logicDb1","topic":"topic1"}]',
    TAGS: '[{"logicTb":"logicTb1,field1","tag":"tag1,f1"},{"logicTb":"logicTb2","tag":"tag2"}]',
}
IN_ORDER = (TOPICS, DBS, TBS, TAGS)


@pytest.fixture
def installation(fresh_name: FreshName) -> str:
    return fresh_name("api")


@pytest.fixture
def admin(zookeeper: ZooKeeper, installation: str) -> Iterator[httpx.Client]:
    with admin_client(admin_settings(zookeeper.hosts, installation)) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        yield client


@pytest.fixture
def filled(admin: httpx.Client) -> httpx.Client:
    assert (
        admin.put(GROUP, json={name: json.loads(body) for name, body in BODIES.items()}).status_code
        == 200
    )
    return admin


def problem(answer: httpx.Response, status: int) -> dict[str, object]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body: dict[str, object] = answer.json()
    assert {"title", "detail", "code", "remedy"} <= body.keys()
    assert body["status"] == status
    return body


def test_an_empty_installation_is_filled_one_document_after_another(admin: httpx.Client) -> None:
    for number, data_id in enumerate(IN_ORDER, 1):
        assert problem(admin.get(f"{GROUP}/{data_id}"), 404)["code"] == "NOT_FOUND"
        saved = admin.put(
            f"{GROUP}/{data_id}",
            content=BODIES[data_id],
            headers={"X-Author": "ann", "X-Comment": "first"},
        )
        assert saved.status_code == 201, saved.text
        assert saved.headers["etag"] == f'"{number}"'
        assert saved.json()["set"]["author"] == "ann"
    for data_id, body in BODIES.items():
        read = admin.get(f"{GROUP}/{data_id}")
        assert (read.text, read.headers["etag"], read.headers["content-type"]) == (
            body,
            '"4"',
            "application/json",
        )


def test_a_database_before_its_topic_is_refused_with_the_way_out(admin: httpx.Client) -> None:
    refused = problem(admin.put(f"{GROUP}/{DBS}", content=BODIES[DBS]), 422)
    assert refused["problems"] == [
        {
            "dataId": DBS,
            "pointer": "/0/logicDb",
            "sentence": f"The logical database logicDb1 has no topic in {TOPICS}.",
            "line": 1,
            "column": 13,
        }
    ]
    assert "topics, dbs, tbs, tags" in str(refused["remedy"])
    assert admin.get("/api/v1/mappings/sets").json() == []


def test_all_four_are_saved_at_once(filled: httpx.Client) -> None:
    read = filled.get(GROUP)
    assert read.headers["etag"] == '"1"'
    assert read.json() == {name: json.loads(body) for name, body in BODIES.items()}
    again = filled.put(GROUP, json=read.json(), headers={"If-Match": '"1"'})
    assert (again.headers["etag"], again.json()["changes"]) == ('"1"', []), (
        "what was read can be written back and changes nothing"
    )
    assert problem(filled.put(GROUP, json={}), 428)
    without_tags = {name: body for name, body in BODIES.items() if name != TAGS}
    assert (
        filled.put(GROUP, json=without_tags, headers={"If-Match": '"1"'}).headers["etag"] == '"2"'
    )
    assert problem(filled.get(f"{GROUP}/{TAGS}"), 404)


def test_an_edit_needs_the_etag_that_it_was_made_from(filled: httpx.Client) -> None:
    edit = BODIES[TOPICS].replace("topic1", "topic2")
    problem(filled.put(f"{GROUP}/{TOPICS}", content=edit), 428)
    unknown = filled.put(f"{GROUP}/{TOPICS}", content=edit, headers={"If-Match": '"7"'})
    assert "conflict" not in problem(unknown, 412)
    problem(filled.put(f"{GROUP}/{TOPICS}", content=edit, headers={"If-Match": "1"}), 400)
    problem(filled.put(f"{GROUP}/{TOPICS}", content=edit, headers={"If-None-Match": "*"}), 412)
    who = {"If-Match": '"1"', "X-Author": "ann", "X-Comment": "second topic"}
    saved = filled.put(f"{GROUP}/{TOPICS}", content=edit, headers=who)
    assert (saved.status_code, saved.headers["etag"]) == (200, '"2"')
    mine = BODIES[TOPICS].replace("topic1", "topic3")
    late = filled.put(f"{GROUP}/{TOPICS}", content=mine, headers={"If-Match": '"1"'})
    conflict = cast("dict[str, Any]", problem(late, 412)["conflict"])
    assert [conflict[each] for each in ("set", "author", "comment")] == [2, "ann", "second topic"]
    for side, text in (("theirs", edit), ("mine", mine)):
        assert list(conflict[side]) == [TOPICS]
        assert '-  {"logicDb": "logicDb1", "topic": "topic1"}' in conflict[side][TOPICS]
        assert conflict[side][TOPICS].endswith(f"\n+{text}")
    assert filled.get(f"{GROUP}/{TOPICS}").text == edit
    assert (
        filled.put(f"{GROUP}/{TOPICS}", content=BODIES[TOPICS], headers={"If-Match": "*"}).headers[
            "etag"
        ]
        == '"3"'
    )


def test_a_save_says_what_moved(filled: httpx.Client) -> None:
    edit = BODIES[TOPICS].replace("topic1", "topic2")
    changes = filled.put(f"{GROUP}/{TOPICS}", content=edit, headers={"If-Match": '"1"'}).json()[
        "changes"
    ]
    assert [change["sentence"].split(": ")[1] for change in changes] == [
        "moved from topic topic1 to topic topic2."
    ]
    assert changes[0]["tables"] == [
        f"{db}.{tb}" for db in ("realDb11", "realDb12") for tb in ("*", "realTb11", "realTb12")
    ]


def test_of_two_edits_of_one_set_one_is_saved(filled: httpx.Client) -> None:
    edits = [BODIES[TOPICS].replace("topic1", f"topic{number}") for number in range(10, 18)]
    with ThreadPoolExecutor(len(edits)) as pool:
        answers = list(
            pool.map(
                lambda edit: filled.put(
                    f"{GROUP}/{TOPICS}", content=edit, headers={"If-Match": '"1"'}
                ),
                edits,
            )
        )
    assert sorted(answer.status_code for answer in answers) == [200] + [412] * 7
    winner = next(
        edit for edit, answer in zip(edits, answers, strict=True) if answer.status_code == 200
    )
    assert filled.get(f"{GROUP}/{TOPICS}").text == winner
    assert [each["set"] for each in filled.get("/api/v1/mappings/sets").json()] == [2, 1]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (b"[{", ""),
        (b"{}", ""),
        (b"\xff\xfe", ""),
        (b'[{"logicDb":"logicDb1"}]', "/0/topic"),
        (b'[{"logicDb":"logicDb1","topic":"topic1","topik":"x"}]', "/0/topik"),
        (b'[{"logicDb":"logicDb1","topic":"no topic"}]', "/0/topic"),
        (b'[{"logicDb":"logicDb1","topic":"a"},{"logicDb":"logicDb1","topic":"b"}]', "/1/logicDb"),
        (b"[" * 100_000, ""),
    ],
)
def test_a_broken_document_is_refused_with_its_place(
    filled: httpx.Client, body: bytes, pointer: str
) -> None:
    found = problem(
        filled.put(f"{GROUP}/{TOPICS}", content=body, headers={"If-Match": '"1"'}), 422
    )["problems"]
    assert isinstance(found, list)
    assert (found[0]["dataId"], found[0]["pointer"]) == (TOPICS, pointer)
    assert found[0]["sentence"].endswith((".", "?"))
    assert filled.get(f"{GROUP}/{TOPICS}").headers["etag"] == '"1"'


def test_a_byte_order_mark_is_no_part_of_a_document(filled: httpx.Client) -> None:
    headers = {"If-Match": "*"}
    assert (
        filled.put(
            f"{GROUP}/{TOPICS}", content=b"\xef\xbb\xbf" + BODIES[TOPICS].encode(), headers=headers
        ).status_code
        == 200
    )
    assert filled.get(f"{GROUP}/{TOPICS}").text == BODIES[TOPICS]


def test_an_unknown_key_of_a_request_gets_the_nearest_one(filled: httpx.Client) -> None:
    found = problem(
        filled.post(
            "/api/v1/mappings/rollback", json={"set": 1, "stet": 1}, headers={"If-Match": "*"}
        ),
        422,
    )["problems"]
    assert [(each["pointer"], each["sentence"]) for each in found] == [  # type: ignore[attr-defined]  # a list
        ("/body/stet", "This key is not known here; did you mean 'set'?")
    ]


def test_a_contradiction_with_another_document_is_refused(filled: httpx.Client) -> None:
    found = problem(
        filled.put(f"{GROUP}/{TOPICS}", content="[]", headers={"If-Match": '"1"'}), 422
    )["problems"]
    assert [(each["dataId"], each["pointer"]) for each in found] == [(DBS, "/0/logicDb")]  # type: ignore[attr-defined]  # a list


def test_an_unknown_document_or_group_is_refused(admin: httpx.Client) -> None:
    assert (
        problem(admin.put(f"{GROUP}/com.pajk.Roma.other", content="[]"), 422)["code"]
        == "MAPPING_REFUSED"
    )
    for answer in (
        admin.get("/api/v1/configs/OTHER/a"),
        admin.put("/api/v1/configs/OTHER/a", content="[]"),
        admin.get("/api/v1/configs/OTHER"),
    ):
        assert problem(answer, 404)["detail"] == "There is no group OTHER."


def test_a_body_without_end_is_refused(admin: httpx.Client) -> None:
    problem(admin.put(f"{GROUP}/{TOPICS}", content=b" " * 7_000_000), 413)
    refused = problem(admin.put(f"{GROUP}/{TOPICS}", content=b" " * 1_000_000 + b"[]"), 413)
    assert refused["code"] == "SAVE_TOO_LARGE"
    assert "ZooKeeper accepts at most 1000000 in one request" in str(refused["detail"])


def test_writes_need_the_token(
    zookeeper: ZooKeeper, admin: httpx.Client, installation: str
) -> None:
    for wrong in ("", "Bearer", "Bearer other", "Basic the-token", "Bearer the-tokén"):
        refused = admin.put(
            f"{GROUP}/{TOPICS}", content=BODIES[TOPICS], headers={b"Authorization": wrong.encode()}
        )
        sent = wrong.lower().startswith("bearer ") and wrong.partition(" ")[2]
        assert problem(refused, 401)["code"] == ("TOKEN_WRONG" if sent else "TOKEN_MISSING")
        assert refused.headers["www-authenticate"] == "Bearer"
    assert admin.get(GROUP, headers={"Authorization": ""}).json() == {}
    with admin_client(admin_settings(zookeeper.hosts, installation, api={"port": 0})) as closed:
        for write in (
            closed.put(GROUP, json={}),
            closed.put(f"{GROUP}/{TOPICS}", content="[]"),
            closed.post("/api/v1/mappings/rollback", json={"set": 1}),
        ):
            assert problem(write, 403)["code"] == "WRITES_FORBIDDEN"


def test_the_history_of_a_document_keeps_every_version(filled: httpx.Client) -> None:
    edit = BODIES[TOPICS].replace("topic1", "topic2")
    headers = {
        b"If-Match": b'"1"',
        b"X-Author": b"b%C3%B6b",
        b"X-Comment": "warum nicht: größer".encode(),
    }
    assert filled.put(f"{GROUP}/{TOPICS}", content=edit, headers=headers).status_code == 200
    newest, oldest = filled.get(f"{GROUP}/{TOPICS}/history").json()
    assert (newest["version"], newest["in_force"], newest["author"], newest["body"]) == (
        2,
        True,
        "böb",
        edit,
    )
    assert newest["comment"] == "warum nicht: größer"
    assert (oldest["version"], oldest["in_force"]) == (1, False)
    assert filled.get(f"{GROUP}/{TOPICS}/history/1").json() == oldest
    assert len(filled.get(f"{GROUP}/{TOPICS}/history?limit=1").json()) == 1
    problem(filled.get(f"{GROUP}/{TOPICS}/history/9"), 404)
    problem(filled.get(f"{GROUP}/never.saved/history"), 404)
    problem(filled.get(f"{GROUP}/{TOPICS}/history?limit=0"), 422)
    problem(filled.get(f"{GROUP}/{TOPICS}/history/x"), 422)


def test_what_is_known_is_not_sent_again(filled: httpx.Client) -> None:
    assert filled.get(f"{GROUP}/{TOPICS}", headers={"If-None-Match": '"1"'}).status_code == 304
    assert filled.get(f"{GROUP}/{TOPICS}", headers={"If-None-Match": '"2"'}).status_code == 200


def test_a_broken_set_in_zookeeper_is_named_and_can_be_left(
    zookeeper: ZooKeeper, filled: httpx.Client, installation: str
) -> None:
    with session_with(zookeeper.hosts) as session:
        session.put(Paths(f"/roma/{installation}").mapping_pointer, b"77")
    assert problem(filled.get(f"{GROUP}/{TOPICS}"), 409)["code"] == "SET_IN_FORCE_BROKEN"
    problem(filled.put(f"{GROUP}/{TOPICS}", content="[]", headers={"If-Match": '"77"'}), 409)
    back = filled.post("/api/v1/mappings/rollback", json={"set": 1}, headers={"If-Match": '"77"'})
    assert (back.status_code, back.headers["etag"]) == (200, '"78"')
    with session_with(zookeeper.hosts) as session:
        session.put(Paths(f"/roma/{installation}").mapping_pointer, b"garbage")
    problem(
        filled.post("/api/v1/mappings/rollback", json={"set": 1}, headers={"If-Match": '"78"'}), 409
    )
    assert (
        filled.post(
            "/api/v1/mappings/rollback", json={"set": 1}, headers={"If-Match": "*"}
        ).headers["etag"]
        == '"79"'
    )
    assert filled.get(f"{GROUP}/{TOPICS}").json() == json.loads(BODIES[TOPICS])
