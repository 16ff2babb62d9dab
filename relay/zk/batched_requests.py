"""Requests that are sent together: many reads in one round trip, and steps of a transaction."""

from __future__ import annotations  # IAsyncResult takes its type parameter in the stubs alone

from collections.abc import Iterable, Sequence
from typing import Final, Generic, Protocol, TypeVar

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError
from kazoo.interfaces import IAsyncResult
from kazoo.protocol.states import ZnodeStat

from relay.deadline import Deadline
from relay.zk.node import Create, Delete, Node, Replace, Step

READS_PER_BATCH: Final = 100
"""So many reads wait for their answer at the same time; more would delay other requests."""


T_co = TypeVar("T_co", covariant=True)


class Answer(Protocol[T_co]):
    """The future answer of a request to ZooKeeper."""

    def get(self, *, timeout: float) -> T_co:
        """Return the answer; `timeout` in seconds. Raises kazoo's errors."""


T = TypeVar("T")


class ReadBatch(Generic[T]):
    """The answers to reads that were sent one after another, without waiting in between."""

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
    """Return the nodes that the steps of a successful transaction replaced, in their order."""
    return [
        node_of(step.value, answer)
        for step, answer in zip(steps, answers, strict=True)
        if isinstance(step, Replace) and isinstance(answer, ZnodeStat)
    ]


def node_of(value: bytes, stat: ZnodeStat) -> Node:
    """Return a node of kazoo's value and statistics."""
    return Node(
        value=value,
        version=stat.version,
        ephemeral_owner=stat.ephemeralOwner or None,
        modified_ms=stat.mtime,
        changed=stat.mzxid,
    )
