"""The requests of a client as plain values, and the numbers of Canal's enumerations."""

from enum import IntEnum
from typing import NamedTuple, TypeAlias


class PacketKind(IntEnum):
    """The number of a packet's type in Canal's protocol."""

    HANDSHAKE = 1
    CLIENT_AUTHENTICATION = 2
    ACK = 3
    SUBSCRIPTION = 4
    UNSUBSCRIPTION = 5
    GET = 6
    MESSAGES = 7
    CLIENT_ACK = 8
    HEARTBEAT = 11
    CLIENT_ROLLBACK = 12


class EntryKind(IntEnum):
    """The number of an entry's type in Canal's protocol."""

    TRANSACTION_BEGIN = 1
    ROW_DATA = 2
    TRANSACTION_END = 3


class EventKind(IntEnum):
    """The number of an event's type in Canal's protocol; the names are those of `type` in
    canal-json.
    """

    INSERT = 1
    UPDATE = 2
    DELETE = 3
    CREATE = 4
    ALTER = 5
    ERASE = 6
    QUERY = 7
    TRUNCATE = 8
    RENAME = 9
    CINDEX = 10
    DINDEX = 11
    XACOMMIT = 13
    XAROLLBACK = 14


class TimeUnit(IntEnum):
    """The number of a time unit in a packet GET of Canal's protocol."""

    NANOSECONDS = 0
    MICROSECONDS = 1
    MILLISECONDS = 2
    SECONDS = 3
    MINUTES = 4
    HOURS = 5
    DAYS = 6


class ClientLogin(NamedTuple):
    """A request to log in.

    password      hexadecimal digits of the scrambled password, as the client sent them
    idle_seconds  time for which the connection may be idle; 0: the server's limit
    """

    username: str
    password: bytes
    destination: str
    client_id: str
    filter: str
    idle_seconds: float


class Subscribe(NamedTuple):
    """A request to read the tables that match a filter. An empty filter means those of the
    destination.
    """

    destination: str
    client_id: str
    filter: str


class Unsubscribe(NamedTuple):
    """A request to end the subscription of a client."""

    destination: str
    client_id: str


class GetBatch(NamedTuple):
    """A request for the next batch.

    timeout_seconds  None: the available changes; 0: wait for a full batch
    """

    destination: str
    client_id: str
    size: int
    timeout_seconds: float | None


class Acknowledge(NamedTuple):
    """A request to acknowledge a batch by its id."""

    destination: str
    client_id: str
    batch_id: int


class RollBack(NamedTuple):
    """A request to deliver unacknowledged batches again. `batch_id` 0: all of them."""

    destination: str
    client_id: str
    batch_id: int


class NoRequest(NamedTuple):
    """A packet that needs no action and no answer: a heartbeat."""


Request: TypeAlias = Subscribe | Unsubscribe | GetBatch | Acknowledge | RollBack | NoRequest
