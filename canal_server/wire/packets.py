"""Packets: requests as plain values, and answers as bytes without the length before them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from google.protobuf.message import DecodeError

from canal_server.errors import BadPacket
from canal_server.wire.kinds import (
    Acknowledge,
    ClientLogin,
    GetBatch,
    NoRequest,
    PacketKind,
    Request,
    RollBack,
    Subscribe,
    TimeUnit,
    Unsubscribe,
)
from canal_server.wire.schema import MESSAGES

_VERSION: Final = 1
_UNCOMPRESSED: Final = (0, 1)
_SECONDS: Final = {
    TimeUnit.NANOSECONDS: 1e-9,
    TimeUnit.MICROSECONDS: 1e-6,
    TimeUnit.MILLISECONDS: 1e-3,
    TimeUnit.SECONDS: 1.0,
    TimeUnit.MINUTES: 60.0,
    TimeUnit.HOURS: 3600.0,
    TimeUnit.DAYS: 86400.0,
}
_MILLISECONDS: Final = 1000


def handshake(seeds: bytes) -> bytes:
    """Return the first packet of a connection, with the seeds for the scrambled password."""
    return _packet(PacketKind.HANDSHAKE, MESSAGES["Handshake"](seeds=seeds))


def accepted() -> bytes:
    """Return the packet that confirms a login or a subscription."""
    return _packet(PacketKind.ACK, MESSAGES["Ack"]())


def refused(code: int, text: str) -> bytes:
    """Return the packet that refuses a request; `code` is at least 1."""
    return _packet(PacketKind.ACK, MESSAGES["Ack"](error_code=code, error_message=text))


def messages(batch_id: int, entries: Sequence[bytes]) -> bytes:
    """Return the packet with a batch of entries; `batch_id` is -1 if there are none."""
    body = MESSAGES["Messages"](batch_id=batch_id, messages=entries)
    return _packet(PacketKind.MESSAGES, body)


def read_login(packet: bytes) -> ClientLogin:
    """Return the login in a packet. Raises BadPacket for any other packet."""
    kind, body = _opened(packet)
    if kind != PacketKind.CLIENT_AUTHENTICATION:
        raise BadPacket(f"The first packet has type {kind}; an authentication (2) is expected.")
    found = _parsed("ClientAuth", body)
    idle = max(0, found.net_read_timeout) / _MILLISECONDS
    return ClientLogin(
        found.username, found.password, found.destination, found.client_id, found.filter, idle
    )


def read_request(packet: bytes) -> Request:
    """Return the request in a packet after the login. Raises BadPacket for any other packet."""
    kind, body = _opened(packet)
    read = _READERS.get(kind)
    if read is None:
        raise BadPacket(f"Packets of type {kind} are not supported.")
    return read(body)


def _packet(kind: PacketKind, body: Any) -> bytes:
    packet = MESSAGES["Packet"](version=_VERSION, type=kind, body=body.SerializeToString())
    return bytes(packet.SerializeToString())


def _opened(packet: bytes) -> tuple[int, bytes]:
    found = _parsed("Packet", packet)
    if found.compression not in _UNCOMPRESSED:
        raise BadPacket(f"Compression {found.compression} of packets is not supported.")
    return found.type, found.body


def _parsed(name: str, body: bytes) -> Any:
    message = MESSAGES[name]()
    try:
        message.ParseFromString(body)
    except DecodeError as exc:
        raise BadPacket(f"{len(body)} bytes are not a valid {name} of Canal's protocol.") from exc
    return message


def _subscribe(body: bytes) -> Subscribe:
    found = _parsed("Sub", body)
    return Subscribe(found.destination, found.client_id, found.filter)


def _unsubscribe(body: bytes) -> Unsubscribe:
    found = _parsed("Sub", body)
    return Unsubscribe(found.destination, found.client_id)


def _get(body: bytes) -> GetBatch:
    """A timeout below 0 is none. An unknown unit is milliseconds, as in Canal."""
    found = _parsed("Get", body)
    timeout = found.timeout if found.HasField("timeout") else -1
    unit = found.unit if found.HasField("unit") else TimeUnit.MILLISECONDS
    seconds = timeout * _SECONDS.get(unit, 1 / _MILLISECONDS)
    wait = None if timeout < 0 else seconds
    return GetBatch(found.destination, found.client_id, found.fetch_size, wait)


def _acknowledge(body: bytes) -> Acknowledge:
    found = _parsed("Batch", body)
    return Acknowledge(found.destination, found.client_id, found.batch_id)


def _roll_back(body: bytes) -> RollBack:
    found = _parsed("Batch", body)
    return RollBack(found.destination, found.client_id, found.batch_id)


def _nothing(_body: bytes) -> NoRequest:
    return NoRequest()


_READERS: Final[Mapping[int, Callable[[bytes], Request]]] = {
    PacketKind.SUBSCRIPTION: _subscribe,
    PacketKind.UNSUBSCRIPTION: _unsubscribe,
    PacketKind.GET: _get,
    PacketKind.CLIENT_ACK: _acknowledge,
    PacketKind.CLIENT_ROLLBACK: _roll_back,
    PacketKind.HEARTBEAT: _nothing,
}
