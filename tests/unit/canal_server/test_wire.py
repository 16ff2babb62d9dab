"""Frames, packets and passwords: what is written is read back, and other bytes are refused."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymysql._auth import scramble_native_password

from canal_server.errors import BadPacket
from canal_server.passwords import is_right, scrambled
from canal_server.wire import (
    FRAME_HEADER,
    Acknowledge,
    GetBatch,
    NoRequest,
    RollBack,
    Subscribe,
    Unsubscribe,
    framed,
    handshake,
    length_of,
    messages,
    read_login,
    read_request,
    refused,
)
from canal_server.wire.schema import MESSAGES

INT64 = st.integers(-(2**63), 2**63 - 1)
NAMES = st.text(max_size=20)


def packet(kind: int, name: str, **fields: object) -> bytes:
    body = MESSAGES[name](**fields).SerializeToString()
    return bytes(MESSAGES["Packet"](type=kind, body=body).SerializeToString())


@given(NAMES, NAMES, NAMES, INT64)
def test_each_request_is_read_as_it_was_written(
    destination: str, client: str, filter_: str, batch: int
) -> None:
    place = {"destination": destination, "client_id": client}
    assert read_request(packet(4, "Sub", **place, filter=filter_)) == Subscribe(
        destination, client, filter_
    )
    assert read_request(packet(5, "Sub", **place)) == Unsubscribe(destination, client)
    assert read_request(packet(8, "Batch", **place, batch_id=batch)) == Acknowledge(
        destination, client, batch
    )
    assert read_request(packet(12, "Batch", **place, batch_id=batch)) == RollBack(
        destination, client, batch
    )
    assert read_request(packet(11, "Batch")) == NoRequest()


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, None),
        ({"timeout": -1}, None),
        ({"timeout": 0, "unit": 2}, 0.0),
        ({"timeout": 1500}, 1.5),
        ({"timeout": 1500, "unit": -1}, 1.5),
        ({"timeout": 2, "unit": 3}, 2.0),
        ({"timeout": 2, "unit": 4}, 120.0),
        ({"timeout": 5_000_000, "unit": 0}, 0.005),
    ],
)
def test_a_timeout_is_read_in_its_unit(fields: dict[str, int], expected: float | None) -> None:
    read = read_request(packet(6, "Get", destination="d", client_id="1", fetch_size=7, **fields))
    assert isinstance(read, GetBatch)
    assert read[:3] == ("d", "1", 7)
    assert read.timeout_seconds == (pytest.approx(expected) if expected else expected)


@given(st.binary(max_size=200))
def test_other_bytes_are_a_bad_packet_and_no_other_error(data: bytes) -> None:
    for read in (read_request, read_login):
        with suppress(BadPacket):
            read(data)


@given(st.integers(0, 12), st.binary(max_size=60))
def test_a_broken_body_is_a_bad_packet_and_no_other_error(kind: int, body: bytes) -> None:
    with suppress(BadPacket):
        read_request(bytes(MESSAGES["Packet"](type=kind, body=body).SerializeToString()))


def test_compressed_packets_are_refused() -> None:
    with pytest.raises(BadPacket, match="Compression 2"):
        read_request(bytes(MESSAGES["Packet"](type=11, compression=2).SerializeToString()))


@given(st.binary(max_size=50))
def test_a_frame_has_the_length_of_its_packet(data: bytes) -> None:
    frame = framed(data)
    assert length_of(frame[:FRAME_HEADER], 50) == len(data)
    assert frame[FRAME_HEADER:] == data


@pytest.mark.parametrize("header", [b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\x04\x01"])
def test_a_length_that_is_negative_or_too_large_is_refused(header: bytes) -> None:
    with pytest.raises(BadPacket, match="at most 1024"):
        length_of(header, 1024)


def test_answers_have_the_numbers_of_canals_protocol() -> None:
    """Written out once as bytes: field numbers and types are part of the protocol."""
    assert handshake(b"12345678") == bytes.fromhex("10011801") + b"\x2a\x0a\x12\x08" + b"12345678"
    assert messages(-1, []) == bytes.fromhex("100118072a0b08") + b"\xff" * 9 + b"\x01"
    assert messages(3, [b"ab"]) == bytes.fromhex("100118072a060803") + b"\x12\x02ab"
    assert refused(400, "no") == bytes.fromhex("100118032a070890031202") + b"no"


@given(st.text(min_size=1, max_size=20), st.binary(min_size=8, max_size=8))
def test_a_password_is_scrambled_as_mysql_does(password: str, seeds: bytes) -> None:
    padded = seeds.ljust(20, b"\0")
    digits = scramble_native_password(password.encode(), padded).hex().encode()
    assert scrambled(password, padded) == digits
    assert is_right(scrambled(password, seeds), password, seeds)
    assert not is_right(scrambled(password + "x", seeds), password, seeds)
    assert not is_right(b"", password, seeds)
    assert not is_right(password.encode(), password, seeds)
