"""The requests and answers of many reads, and servers that refuse them."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from kazoo.exceptions import NoAuthError, NoNodeError, UnimplementedError
from kazoo.protocol.states import ZnodeStat

from relay.errors import StoreNotPermitted
from relay.zk.batched_requests import MultiRead
from relay.zk.client import Client
from relay.zk.requests import Requests

STAT = ZnodeStat(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)


class Sent:
    """An answer that has come."""

    def __init__(self) -> None:
        self.value: Any = None

    def get(self, *, timeout: float) -> Any:
        assert timeout > 0
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


class Kazoo:
    """A client that keeps the requests that it was given, and answers each by a function."""

    def __init__(self, answer: Callable[[object], object]) -> None:
        self.requests: list[object] = []
        self.handler = SimpleNamespace(async_result=Sent)
        self._answer = answer

    def _call(self, request: object, sent: Sent) -> None:
        self.requests.append(request)
        sent.value = self._answer(request)

    def get_async(self, path: str) -> Sent:
        sent = Sent()
        self._call(path, sent)
        return sent


def requests_of(kazoo: Kazoo) -> Requests:
    connected = SimpleNamespace(wait=lambda _seconds: True)
    client = SimpleNamespace(kazoo=kazoo, connected=connected, answered=lambda: None)
    return Requests(cast("Client", client), 60)


def test_a_server_without_this_operation_reads_each_node_by_a_request() -> None:
    def answer(request: object) -> object:
        if isinstance(request, MultiRead):
            return UnimplementedError()
        return NoNodeError() if request == "/b" else (b"x", STAT)

    kazoo = Kazoo(answer)
    requests = requests_of(kazoo)
    for _ in range(2):
        found = requests.read_nodes(["/a", "/b"], synced=False, large=False)
        assert found == [(b"x", STAT), None]
    assert kazoo.requests[1:] == ["/a", "/b"] * 2, "the refused operation is not sent again"


def test_one_request_reads_many_nodes_and_large_ones_are_read_one_by_one() -> None:
    def answer(request: object) -> object:
        return [(b"x", STAT), NoNodeError()] if isinstance(request, MultiRead) else (b"x", STAT)

    kazoo = Kazoo(answer)
    requests = requests_of(kazoo)
    assert requests.read_nodes(["/a", "/b"], synced=False, large=False) == [(b"x", STAT), None]
    assert len(kazoo.requests) == 1
    assert requests.read_nodes(["/a", "/b"], synced=False, large=True) == [(b"x", STAT)] * 2
    assert kazoo.requests[1:] == ["/a", "/b"]


def test_a_node_that_may_not_be_read_is_an_error() -> None:
    requests = requests_of(Kazoo(lambda _: [(b"x", STAT), NoAuthError()]))
    with pytest.raises(StoreNotPermitted, match="/a"):
        requests.read_nodes(["/a", "/b"], synced=False, large=False)
