"""Sockets that can be read or written, as kazoo asks for them."""

import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest

from relay.zk.connections import Connections

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    one, other = socket.socketpair()
    with one, other:
        yield one, other


@pytest.fixture
def connections() -> Connections:
    return Connections(None, lambda: None)


def test_a_socket_with_bytes_can_be_read(connections: Connections, pair: Pair) -> None:
    one, other = pair
    assert connections.select([one, other], [], [], 0) == ([], [], [])
    other.send(b"x")
    assert connections.select([one, other], [], [], None) == ([one], [], [])


def test_a_socket_whose_other_end_was_closed_can_be_read(
    connections: Connections, pair: Pair
) -> None:
    one, other = pair
    other.close()
    assert connections.select([one], [], [], 60) == ([one], [], [])


def test_a_socket_with_room_can_be_written(connections: Connections, pair: Pair) -> None:
    one, other = pair
    assert connections.select([], [one], [], 60) == ([], [one], [])
    assert connections.select([other], [one], [], 60) == ([], [one], [])
    one.setblocking(False)
    with suppress(BlockingIOError):
        while one.send(b"x" * 65_536):
            pass
    assert connections.select([], [one], [], 0) == ([], [], [])


def test_a_closed_socket_is_an_error(connections: Connections, pair: Pair) -> None:
    one, _ = pair
    one.close()
    with pytest.raises(ValueError, match="negative"):
        connections.select([one], [], [], 0)
