"""The framing over real sockets: packets may arrive cut at any byte."""

import socket
import threading
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.errors import SourceSilent, SourceUnreachable
from relay.source.protocol.packets import PacketReader
from tests.unit.source.binlog_bytes import packet

LONGEST = 0xFFFFFF


def send(pieces: list[bytes]) -> tuple[socket.socket, threading.Thread]:
    near, far = socket.socketpair()

    def write() -> None:
        with far:
            for piece in pieces:
                far.sendall(piece)

    thread = threading.Thread(target=write)
    thread.start()
    return near, thread


@given(
    payloads=st.lists(st.binary(max_size=300), min_size=1, max_size=12),
    cuts=st.lists(st.integers(0, 4000), max_size=12),
    buffer_bytes=st.integers(4, 200),
)
def test_payloads_arrive_whole_however_the_stream_is_cut(
    payloads: list[bytes], cuts: list[int], buffer_bytes: int
) -> None:
    stream = b"".join(packet(payload, number) for number, payload in enumerate(payloads))
    bounds = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    near, thread = send([stream[low:high] for low, high in pairwise(bounds)])
    with near:
        near.settimeout(10)
        reader = PacketReader(near, "db:3306", buffer_bytes)
        assert [bytes(reader.next_payload()) for _ in payloads] == payloads
        with pytest.raises(SourceUnreachable, match=r"The source at db:3306 closed"):
            reader.next_payload()
    thread.join()


@pytest.mark.parametrize("tail", [0, 1, LONGEST - 1])
def test_a_payload_over_several_packets_is_joined(tail: int) -> None:
    parts = [b"a" * LONGEST, b"b" * LONGEST, b"c" * tail]
    near, thread = send(
        [packet(part, number) for number, part in enumerate(parts)] + [packet(b"next")]
    )
    with near:
        near.settimeout(30)
        reader = PacketReader(near, "db:3306")
        joined = reader.next_payload()
        assert len(joined) == 2 * LONGEST + tail
        assert joined == b"".join(parts)
        assert bytes(reader.next_payload()) == b"next"
    thread.join()


def test_a_quiet_server_is_silent_not_gone() -> None:
    near, far = socket.socketpair()
    with near, far:
        near.settimeout(0.05)
        far.sendall(packet(b"half a packet")[:9])
        with pytest.raises(SourceSilent, match=r"the source at db:3306 for 0\.05 seconds"):
            PacketReader(near, "db:3306").next_payload()
