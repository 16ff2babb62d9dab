"""The lock for an erasure of personal data: one process erases at a time, and records the topic
settings that it changes.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import time
from typing import Final
from urllib.parse import unquote

import structlog

from relay.errors import (
    ErasureInterrupted,
    ErasureRefused,
    NodeMissing,
    StoreUnreachable,
    VersionConflict,
)
from relay.state.json_object import JsonObject, write_json
from relay.state.paths import Paths
from relay.zk import Node, Session

_SEGMENT_MS: Final = "segment_ms"

_log = structlog.stdlib.get_logger(__name__)


class ErasureTurn:
    """The right to run the only erasure of an installation.

    ZooKeeper has an ephemeral node for it, which ends with its process, and one node for each topic
    whose setting was changed. Use one object per ZooKeeper session; several threads may use it.
    """

    def __init__(self, session: Session, paths: Paths, installation: str) -> None:
        self.transactional_id = f"{installation}.erase"
        """Every turn has the same id: Kafka fences a process whose turn is over."""
        self.node = paths.erasure_owner
        self._session = session
        self._paths = paths
        self._in_process = threading.Lock()

    @contextmanager
    def held(self, by: str) -> Iterator[None]:
        """Context manager: hold the right to erase for `by`, the operator's name.

        Raises ErasureRefused if another process or thread has it, and StoreUnreachable.
        """
        if not self._in_process.acquire(blocking=False):
            raise ErasureRefused(
                "This process already erases personal data, or restores topic settings after "
                "an erasure.",
                remedy="Wait until it has ended, then try again.",
            )
        try:
            self._take(by)
            try:
                yield
            finally:
                self._release()
        finally:
            self._in_process.release()

    def check(self) -> None:
        """Raise ErasureInterrupted if this process has lost the right to erase since it got it.

        Raises StoreUnreachable if ZooKeeper does not answer: the right is then unknown.
        """
        if not self._session.owns(self.node):
            raise ErasureInterrupted(
                "The ZooKeeper session ended during the erasure, so another process may have "
                "begun to erase."
            )

    def note(self, topic: str, segment_ms: str | None) -> None:
        """Record the topic's own value of `segment.ms` before it is changed; None: the topic has
        none.

        Raises ErasureInterrupted if another process has recorded it.
        """
        self.check()
        value = write_json({_SEGMENT_MS: segment_ms})
        try:
            self._session.create(self._paths.erasure_setting(topic), value)
        except VersionConflict as exc:
            raise ErasureInterrupted(f"Another process changes the settings of {topic}.") from exc

    def noted(self) -> dict[str, str | None]:
        """Return the topics whose `segment.ms` may still be changed, with the value to restore;
        None: to remove the setting.
        """
        try:
            names = self._session.children(self._paths.erasure_settings, synced=True)
        except NodeMissing:
            return {}
        nodes = self._session.find_all([f"{self._paths.erasure_settings}/{each}" for each in names])
        return {
            unquote(name): JsonObject.read(node.value).text(_SEGMENT_MS) or None
            for name, node in zip(names, nodes, strict=True)
            if node is not None
        }

    def restored(self, topic: str) -> None:
        """Delete the record of a topic, because its setting is restored."""
        with suppress(NodeMissing):
            self._session.delete(self._paths.erasure_setting(topic))

    def is_left(self) -> bool:
        """Return whether an erasure ended early: recorded topic settings are left, or this session
        still has the node of the lock.
        """
        return bool(self.noted()) or self._session.owns(self.node)

    def _take(self, by: str) -> None:
        value = write_json({"by": by, "host": socket.gethostname(), "at_ms": int(time() * 1000)})
        while True:
            try:
                self._session.create_ephemeral(self.node, value)
            except VersionConflict:
                owner = self._session.find(self.node, synced=True)
                if owner is None:
                    continue
                if owner.ephemeral_owner != self._session.id:
                    raise _held_by(owner) from None
                # A request of this session was carried out and not answered, or its deletion was
                # lost.
            return

    def _release(self) -> None:
        try:
            with suppress(NodeMissing):
                if self._session.owns(self.node):
                    self._session.delete(self.node)
        except StoreUnreachable as error:  # the node ends with the session, or at the next turn
            _log.warning("erasure_turn_not_released", reason=error.reason)


def _held_by(owner: Node) -> ErasureRefused:
    found = JsonObject.read(owner.value)
    return ErasureRefused(
        f"{found.text('by')} is erasing personal data on host {found.text('host')}. Only one "
        "erasure can run at a time.",
        remedy="Wait until it has ended, then search again. If its process was killed, "
        "ZooKeeper ends its session after some seconds.",
    )
