"""A client that sends single packets of Canal's protocol, right and wrong ones."""

import socket
from typing import Any

from canal_server.passwords import scrambled
from canal_server.wire import framed
from canal_server.wire.kinds import PacketKind
from canal_server.wire.schema import MESSAGES


class WireClient:
    """A connected socket; a context manager that closes it."""

    def __init__(self, connection: socket.socket, destination: str = "example") -> None:
        self.socket = connection
        self.socket.settimeout(30)
        self.place = {"destination": destination, "client_id": "1001"}

    @classmethod
    def connected(cls, address: tuple[str, int]) -> "WireClient":
        return cls(socket.create_connection(address, 10))

    def __enter__(self) -> "WireClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def log_in(self, user: str = "", password: str = "", **place: str) -> Any:
        """Answer the handshake; return the server's Ack. With a place, subscribe too."""
        seeds = MESSAGES["Handshake"].FromString(self.received(PacketKind.HANDSHAKE)).seeds
        digits = scrambled(password, seeds)
        who = {"username": user, "password": digits, **place}
        self.send(PacketKind.CLIENT_AUTHENTICATION, "ClientAuth", **who)
        return self.ack()

    def ask(self, kind: PacketKind, name: str, **fields: Any) -> None:
        """Send a packet with destination and client id."""
        self.send(kind, name, **{**self.place, **fields})

    def send(self, kind: int, name: str, **fields: Any) -> None:
        body = MESSAGES[name](**fields).SerializeToString()
        self.raw(framed(MESSAGES["Packet"](type=kind, body=body).SerializeToString()))

    def raw(self, data: bytes) -> None:
        self.socket.sendall(data)

    def subscribe(self, filter_: str = "") -> Any:
        self.ask(PacketKind.SUBSCRIPTION, "Sub", filter=filter_)
        return self.ack()

    def get(self, size: int = 100, timeout_ms: int = -1) -> Any:
        """Return Messages of the next batch; an Ack where the server refuses."""
        self.ask(PacketKind.GET, "Get", fetch_size=size, timeout=timeout_ms, unit=2)
        packet = self.packet()
        name = "Messages" if packet.type == PacketKind.MESSAGES else "Ack"
        return MESSAGES[name].FromString(packet.body)

    def ack_batch(self, batch_id: int) -> None:
        self.ask(PacketKind.CLIENT_ACK, "Batch", batch_id=batch_id)

    def roll_back(self, batch_id: int = 0) -> None:
        self.ask(PacketKind.CLIENT_ROLLBACK, "Batch", batch_id=batch_id)

    def ack(self) -> Any:
        return MESSAGES["Ack"].FromString(self.received(PacketKind.ACK))

    def received(self, kind: PacketKind) -> bytes:
        packet = self.packet()
        assert packet.type == kind, packet
        assert packet.version == 1
        return bytes(packet.body)

    def packet(self) -> Any:
        """Return the next packet. Raises ConnectionError at the end of the connection."""
        size = int.from_bytes(self._exactly(4), "big")
        return MESSAGES["Packet"].FromString(self._exactly(size))

    def is_closed(self) -> bool:
        """Wait for more bytes; return whether the connection ended instead."""
        return not self.socket.recv(1)

    def _exactly(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            part = self.socket.recv(size - len(found))
            if not part:
                raise ConnectionError("the server closed the connection")
            found += part
        return found
