"""What the registry's client makes of the answers of a server, and of settings that cannot work."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import orjson
import pytest

from relay.errors import RegistryRefused, RegistryUnreachable, RelayError, SchemaRefused
from relay.registry import SchemaRegistry
from relay.settings import RegistrySettings

NOT_FOUND = (404, {"error_code": 40401, "message": "no subject"})
AVRO = '{"type":"record","name":"Value","namespace":"shop.%s","fields":[]}'
REMOVED = b"<html>We will be back soon</html>"


class Server:
    """An HTTP server that gives these answers in turn; `asked` has the paths of the requests."""

    def __init__(self, answers: list[tuple[int, Any]]) -> None:
        self.asked: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.do_GET()

            def do_GET(self) -> None:
                server.asked.append(self.path.partition("?")[0])
                status, answer = answers.pop(0)
                body = answer if isinstance(answer, bytes) else orjson.dumps(answer)
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def running(self) -> Iterator[SchemaRegistry]:
        self._thread.start()
        try:
            yield SchemaRegistry(RegistrySettings(url=self.url))
        finally:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()


@contextmanager
def registry(*answers: tuple[int, Any]) -> Iterator[SchemaRegistry]:
    with Server([*answers]).running() as found:
        yield found


def test_an_id_is_asked_for_once() -> None:
    server = Server([NOT_FOUND, (200, {"id": 7})])
    with server.running() as found:
        assert [found.id_of("s", AVRO % "t", "AVRO") for _ in range(2)] == [7, 7]
    assert server.asked == ["/subjects/s", "/subjects/s/versions"]


@pytest.mark.parametrize("answer", [REMOVED, b"", b"[]", b"{}", b'{"id":null}', b'{"id":"7"}'])
def test_an_answer_of_something_else_makes_the_instance_wait(answer: bytes) -> None:
    with registry((200, answer)) as found, pytest.raises(RegistryUnreachable, match="subject s"):
        found.id_of("s", AVRO % "t", "AVRO")
    with registry(NOT_FOUND, (200, answer)) as found, pytest.raises(RegistryUnreachable):
        found.id_of("s", AVRO % "t", "AVRO")


@pytest.mark.parametrize("answer", [REMOVED, b"", b"7"])
def test_such_an_answer_to_preflight_is_named_too(answer: bytes) -> None:
    for ask in (SchemaRegistry.subjects, SchemaRegistry.is_read_only):
        with registry((200, answer)) as found, pytest.raises(RegistryUnreachable):
            ask(found)
    with registry((200, answer)) as found, pytest.raises(RegistryUnreachable):
        found.kind_of("s")


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (401, 401, RegistryRefused),
        (404, 404, RegistryRefused),
        (408, 408, RegistryUnreachable),
        (409, 409, SchemaRefused),
        (422, 42201, SchemaRefused),
        (429, 429, RegistryUnreachable),
        (500, 50001, RegistryUnreachable),
        (503, 503, RegistryUnreachable),
    ],
)
@pytest.mark.parametrize("garbage", [False, True])
def test_a_refusal_is_named(
    status: int, code: int, expected: type[RelayError], garbage: bool
) -> None:
    answer = REMOVED if garbage else {"error_code": code, "message": "no"}
    after = [NOT_FOUND] if status == 409 else []  # it looks whether another relay was faster
    with registry(NOT_FOUND, (status, answer), *after) as found, pytest.raises(expected):
        found.id_of("s", AVRO % "t", "AVRO")


def test_a_long_answer_is_cut() -> None:
    refused = (409, {"error_code": 409, "message": "incompatible: " + "x" * 1_000_000})
    with registry(NOT_FOUND, refused, NOT_FOUND) as found, pytest.raises(SchemaRefused) as caught:
        found.id_of("s", AVRO % "t", "AVRO")
    assert len(caught.value.reason) < 5_000
    assert "incompatible: x" in caught.value.reason


def test_a_registry_that_is_read_only_has_a_remedy_of_its_own() -> None:
    refused = (422, {"error_code": 42205, "message": "READONLY"})
    with registry(NOT_FOUND, refused) as found, pytest.raises(SchemaRefused) as caught:
        found.id_of("s", AVRO % "t", "AVRO")
    assert "accept new schemas" in caught.value.way_out


def test_of_two_relays_that_register_at_the_same_time_none_stops() -> None:
    conflict = (409, {"error_code": 409, "message": "it exists"})
    with registry(NOT_FOUND, conflict, (200, {"id": 5})) as found:
        assert found.id_of("s", AVRO % "t", "AVRO") == 5


@pytest.mark.parametrize("number", [2**31, 2**32, 2**63])
def test_an_id_that_no_message_can_have_is_refused(number: int) -> None:
    with (
        registry((200, {"id": number})) as found,
        pytest.raises(RegistryRefused, match="greatest id"),
    ):
        found.id_of("s", AVRO % "t", "AVRO")


def test_an_id_of_two_schemas_is_refused() -> None:
    """A registry that lost its schemas numbers new ones from 1 again."""
    with registry((200, {"id": 1}), NOT_FOUND, (200, {"id": 1})) as found:
        assert found.id_of("a", AVRO % "a", "AVRO") == 1
        with pytest.raises(RegistryRefused, match=r"id 1 .* subject b, .* subject a\.") as caught:
            found.id_of("b", AVRO % "b", "AVRO")
    assert "lost them" in caught.value.way_out


def test_one_schema_in_several_subjects_has_one_id() -> None:
    with registry((200, {"id": 1}), (200, {"id": 1})) as found:
        assert {found.id_of(each, AVRO % "a", "AVRO") for each in ("a", "b")} == {1}


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("JSON", '{"properties":{"a":{},"b":{}}}', '{"properties":{"b":{},"a":{}}}'),
        ("PROTOBUF", "message V {\n int32 a = 1;\n int32 b = 2;\n}", None),
    ],
)
def test_the_order_of_columns_alone_makes_no_other_schema(
    kind: str, one: str, other: str | None
) -> None:
    """Registries that compare normalized schemas give both one id."""
    lines = one.split("\n")
    swapped = other or "\n".join((lines[0], lines[2], lines[1], lines[3]))
    with registry((200, {"id": 1}), (200, {"id": 1})) as found:
        assert [found.id_of("s", each, kind) for each in (one, swapped)] == [1, 1]


@pytest.mark.parametrize("url", ["registry:8081", "http://[", "http://a:b"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(RegistryRefused) as caught:
        SchemaRegistry(RegistrySettings(url=url)).subjects()
    assert url in caught.value.reason
    assert "registry.url" in caught.value.way_out


def test_an_authority_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").touch()
    for name in ("none.pem", "empty.pem"):
        settings = RegistrySettings(url="https://localhost:1", ca=tmp_path / name)
        with pytest.raises(RegistryRefused, match=r"https://localhost:1") as caught:
            SchemaRegistry(settings).subjects()
        assert "registry.ca" in caught.value.way_out
