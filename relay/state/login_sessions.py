"""Sign-ins of users: one node for each, so that every admin process accepts and ends
all of them.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

from relay.errors import NodeMissing, VersionConflict
from relay.model.accounts import LoginSession
from relay.state.json_object import write_json
from relay.state.paths import Paths
from relay.zk import Session


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A sign-in, and the version of its node."""

    session: LoginSession
    version: int


class LoginSessionStore:
    """Reads and writes sign-ins.

    The id of a sign-in is the SHA-256 of the secret in the browser, as hexadecimal digits. So
    someone who can read ZooKeeper does not learn the secret and cannot use the sign-in.
    """

    def __init__(self, session: Session, paths: Paths) -> None:
        self._session = session
        self._paths = paths

    def open(self, session_id: str, session: LoginSession) -> None:
        """Store a new sign-in."""
        self._session.create(self._paths.login_session(session_id), _document(session))

    def find(self, session_id: str) -> StoredSession | None:
        """Return a sign-in; None if it does not exist or is damaged."""
        node = self._session.find(self._paths.login_session(session_id))
        session = None if node is None else _read(node.value)
        return (
            None if node is None or session is None else StoredSession(session, int(node.version))
        )

    def note_use(self, session_id: str, found: StoredSession, now_ms: int) -> None:
        """Store that the sign-in was used at `now_ms` (Unix milliseconds).

        No effect if another admin process has stored a use meanwhile, or has ended the sign-in.
        """
        with suppress(VersionConflict, NodeMissing):
            self._session.compare_and_set(
                self._paths.login_session(session_id),
                _document(replace(found.session, seen_ms=now_ms)),
                found.version,
            )

    def close(self, session_id: str) -> None:
        """End a sign-in. No effect if it has already ended."""
        with suppress(NodeMissing):
            self._session.delete(self._paths.login_session(session_id))

    def close_where(self, is_wanted: Callable[[LoginSession], bool]) -> int:
        """End all sign-ins for which `is_wanted` returns True, and all damaged ones; return their
        number.
        """
        ended = [
            session_id
            for session_id, session in self._all()
            if session is None or is_wanted(session)
        ]
        for session_id in ended:
            self.close(session_id)
        return len(ended)

    def of_user(self, name: str) -> list[tuple[str, LoginSession]]:
        """Return (id, sign-in) of each sign-in of a user, the oldest first."""
        found = [
            (session_id, session)
            for session_id, session in self._all()
            if session is not None and session.user == name
        ]
        return sorted(found, key=lambda each: each[1].created_ms)

    def _all(self) -> Iterator[tuple[str, LoginSession | None]]:
        try:
            names = self._session.children(self._paths.login_sessions)
        except NodeMissing:
            return
        nodes = self._session.find_all([self._paths.login_session(name) for name in names])
        for name, node in zip(names, nodes, strict=True):
            if node is not None:
                yield name, _read(node.value)


def _document(session: LoginSession) -> bytes:
    return write_json(asdict(session))


def _read(value: bytes) -> LoginSession | None:
    try:
        fields = json.loads(value)
        user, stamp = fields["user"], fields["stamp"]
        times = fields["created_ms"], fields["seen_ms"], fields.get("ends_ms", 0)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    texts = isinstance(user, str) and isinstance(stamp, str)
    if not texts or not all(isinstance(each, int) for each in times):
        return None
    return LoginSession(user, stamp, *times)
