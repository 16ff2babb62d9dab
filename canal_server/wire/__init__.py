"""Canal's wire format: frames, packets and entries, without sockets, Kafka and clocks."""

from canal_server.wire.frames import FRAME_HEADER, framed, length_of
from canal_server.wire.kinds import (
    Acknowledge,
    ClientLogin,
    EntryKind,
    EventKind,
    GetBatch,
    NoRequest,
    Request,
    RollBack,
    Subscribe,
    TimeUnit,
    Unsubscribe,
)
from canal_server.wire.packets import (
    accepted,
    handshake,
    messages,
    read_login,
    read_request,
    refused,
)

__all__ = [
    "FRAME_HEADER",
    "Acknowledge",
    "ClientLogin",
    "EntryKind",
    "EventKind",
    "GetBatch",
    "NoRequest",
    "Request",
    "RollBack",
    "Subscribe",
    "TimeUnit",
    "Unsubscribe",
    "accepted",
    "framed",
    "handshake",
    "length_of",
    "messages",
    "read_login",
    "read_request",
    "refused",
]
