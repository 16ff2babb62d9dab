"""Lists of the REST service have filter and pages, and its answers have entity tags."""

import pytest
from fastapi import FastAPI, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from starlette.testclient import TestClient

from api.app import create_app
from api.listing import ListingDep
from api.middleware.entity_tags import EntityTags
from tests.support.relays.admin_server import admin_settings

PAGED_BY_TIME = {"/api/v1/audit"}
WHOLE = {"/api/v1/mappings/sets/{number}/changes"}
"""The sentences about one save belong together."""


class Entry(BaseModel):
    """An entry with a nested value."""

    name: str
    tags: list[str] = []
    secret: str | None = None


@pytest.fixture(scope="module")
def client() -> TestClient:
    app = FastAPI()
    app.add_middleware(EntityTags)

    @app.get("/api/v1/entries")
    def entries(part: ListingDep) -> list[Entry]:
        return part.of([Entry(name=f"shop-{each}", tags=[f"T{each}"]) for each in range(12)])

    @app.get("/api/v1/own")
    def own(response: Response) -> list[str]:
        response.headers["ETag"] = '"7"'
        return ["a"]

    @app.get("/api/v1/stream")
    def stream() -> StreamingResponse:
        return StreamingResponse(iter(["[", "1", "]"]), media_type="application/json")

    return TestClient(app)


def test_each_list_of_the_interface_has_filter_and_pages() -> None:
    paths = create_app(admin_settings("127.0.0.1:1", "none")).openapi()["paths"]
    without = []
    for path, methods in paths.items():
        answer = methods.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
        if answer.get("application/json", {}).get("schema", {}).get("type") != "array":
            continue
        names = {each["name"] for each in methods["get"].get("parameters", [])}
        if not {"limit", "offset"} <= names and path not in PAGED_BY_TIME | WHOLE:
            without.append(path)
    assert without == []


def test_a_page_of_the_entries_that_contain_all_words(client: TestClient) -> None:
    def names(**query: str | int) -> list[str]:
        return [each["name"] for each in client.get("/api/v1/entries", params=query).json()]

    assert len(names()) == 12
    assert names(limit=2, offset=3) == ["shop-3", "shop-4"]
    assert names(filter="SHOP t1", limit=2, offset=1) == ["shop-10", "shop-11"]
    assert names(filter="name") == [], "names of fields are no values"
    assert names(filter="none") == [], "a missing value is no text"
    answer = client.get("/api/v1/entries", params={"filter": "t1", "limit": 1})
    assert answer.headers["X-Total-Count"] == "3"
    assert client.get("/api/v1/entries", params={"limit": 0}).status_code == 422


def test_an_answer_that_did_not_change_is_not_sent_again(client: TestClient) -> None:
    first = client.get("/api/v1/entries")
    tag = first.headers["ETag"]
    assert tag.startswith('W/"')
    again = client.get("/api/v1/entries", headers={"If-None-Match": f'"x", {tag}'})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
    assert again.headers["X-Total-Count"] == "12"
    other = client.get("/api/v1/entries?limit=1", headers={"If-None-Match": tag})
    assert (other.status_code, len(other.json())) == (200, 1)


def test_an_answer_keeps_its_own_tag_and_a_stream_has_none(client: TestClient) -> None:
    assert client.get("/api/v1/own").headers["ETag"] == '"7"'
    assert client.get("/api/v1/own", headers={"If-None-Match": '"7"'}).json() == ["a"]
    stream = client.get("/api/v1/stream")
    assert (stream.json(), "ETag" in stream.headers) == ([1], False)
    assert "ETag" not in client.get("/api/v1/missing").headers
