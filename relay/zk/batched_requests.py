"""Sends several requests to ZooKeeper together: many reads in one round trip, and the steps of a
transaction.

kazoo lacks ZooKeeper's operation `multiRead`. Its layout is that of `MultiOperationRecord` and
`MultiResponse` (since ZooKeeper 3.6): a header before each part, and a last header that ends the
list.
"""

from __future__ import annotations  # IAsyncResult is generic only in the stubs

from collections.abc import Iterable, Sequence
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

from kazoo.client import KazooClient
from kazoo.exceptions import EXCEPTIONS, KazooException, NoNodeError
from kazoo.interfaces import IAsyncResult
from kazoo.protocol.serialization import (
    GetData,
    MultiHeader,
    int_struct,
    read_buffer,
    stat_struct,
)
from kazoo.protocol.states import ZnodeStat

from relay.deadline import Deadline
from relay.zk.node import Create, Delete, Node, Replace, Step

READS_PER_BATCH: Final = 100
"""Largest number of reads that wait for an answer at the same time. More would delay other
requests.
"""
Found: TypeAlias = tuple[bytes, ZnodeStat]
"""The value and the statistics of a node."""
_END: Final = MultiHeader(-1, True, -1).serialize()
_READ: Final = MultiHeader(GetData.type, False, -1).serialize()

T_co = TypeVar("T_co", covariant=True)


class Answer(Protocol[T_co]):
    """The pending answer of a request to ZooKeeper."""

    def get(self, *, timeout: float) -> T_co:
        """Return the answer; `timeout` in seconds. Raises kazoo's errors."""


T = TypeVar("T")


class ReadBatch(Generic[T]):
    """The pending answers of several reads, which were sent without waiting for each other."""

    def __init__(self, sent: Iterable[IAsyncResult[T]]) -> None:
        self._sent = list(sent)

    def get(self, *, timeout: float) -> Sequence[T | None]:
        """Return the answers in the order of the reads, None for a missing node.

        `timeout`: for all of them, in seconds. Raises kazoo's errors.
        """
        deadline = Deadline.after(timeout)
        return [_answer(each, deadline) for each in self._sent]


def _answer(sent: IAsyncResult[T], deadline: Deadline) -> T | None:
    try:
        return sent.get(timeout=deadline.remaining_s)
    except NoNodeError:
        return None


class MultiRead:
    """A request of kazoo that reads the values of nodes, without watches.

    kazoo's connection thread calls `serialize` and `deserialize`.
    """

    type: Final = 22

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths

    def serialize(self) -> bytes:
        """Return the request without its length, number and type."""
        parts = bytearray()
        for path in self._paths:
            parts += _READ + GetData(path, None).serialize()
        return bytes(parts + _END)

    @staticmethod
    def deserialize(buffer: bytes, offset: int) -> list[Found | KazooException]:
        """Return the nodes in the order of their paths; for a node that cannot be read, the
        server's error as an exception of kazoo.
        """
        found: list[Found | KazooException] = []
        header, offset = MultiHeader.deserialize(buffer, offset)
        while not header.done:
            if header.type == GetData.type:
                value, offset = read_buffer(buffer, offset)
                stat = ZnodeStat._make(stat_struct.unpack_from(buffer, offset))
                offset += stat_struct.size
                found.append((b"" if value is None else value, stat))
            else:
                (code,) = int_struct.unpack_from(buffer, offset)
                offset += int_struct.size
                found.append(EXCEPTIONS[code]())
            header, offset = MultiHeader.deserialize(buffer, offset)
        return found


class NodesAnswer:
    """The pending answer of a `MultiRead`."""

    def __init__(self, sent: IAsyncResult[list[Found | KazooException]]) -> None:
        self._sent = sent

    def get(self, *, timeout: float) -> list[Found | None]:
        """Return the nodes in the order of their paths, None for a missing one.

        `timeout` in seconds. Raises kazoo's errors, also that of a single node.
        """
        return [_known(each) for each in self._sent.get(timeout=timeout)]


def _known(found: Found | KazooException) -> Found | None:
    if isinstance(found, NoNodeError):
        return None
    if isinstance(found, KazooException):
        raise found
    return found


def send_multi_read(client: KazooClient, paths: Sequence[str]) -> NodesAnswer:
    """Send the reads as one request.

    A server before ZooKeeper 3.6 answers with UnimplementedError. The settings refuse a chroot, so
    the paths are those of the servers.
    """
    answer: IAsyncResult[list[Found | KazooException]] = client.handler.async_result()
    client._call(MultiRead(paths), answer)  # noqa: SLF001 - kazoo has no public function for this
    return NodesAnswer(answer)


def commit_steps(client: KazooClient, steps: Sequence[Step]) -> IAsyncResult[list[object]]:
    """Send the steps as one ZooKeeper transaction; the answer has one result for each step."""
    request = client.transaction()
    for step in steps:
        if isinstance(step, Create):
            request.create(step.path, step.value)
        elif isinstance(step, Replace):
            request.set_data(step.path, step.value, step.version)
        elif isinstance(step, Delete):
            request.delete(step.path, step.version)
        else:
            request.check(step.path, step.version)
    return request.commit_async()


def replaced_nodes(steps: Sequence[Step], answers: Sequence[object]) -> list[Node]:
    """Return the nodes that the steps of a successful transaction replaced, in the order of the
    steps.
    """
    return [
        node_of(step.value, answer)
        for step, answer in zip(steps, answers, strict=True)
        if isinstance(step, Replace) and isinstance(answer, ZnodeStat)
    ]


def node_of(value: bytes, stat: ZnodeStat) -> Node:
    """Return a node from kazoo's value and statistics."""
    return Node(
        value=value,
        version=stat.version,
        ephemeral_owner=stat.ephemeralOwner or None,
        modified_ms=stat.mtime,
        changed=stat.mzxid,
    )
