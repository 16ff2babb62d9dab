"""Stores the sessions of users who signed in; all admins of the installation share them."""

from time import time
from typing import Final

from api.access.caller import Caller, OpenSession
from api.access.cookies import id_of, new_secret
from relay.model.accounts import Accounts, LoginSession, User, stamp_of
from relay.state import LoginSessionStore

MOST_OF_ONE_USER: Final = 20
"""Largest number of sessions of one user. A further sign-in ends the user's oldest session."""
_NOTED_EVERY_MS: Final = 60_000
"""The use of a session is stored at most so often."""


class LoginSessions:
    """Opens, finds and ends sessions.

    Each request reads its session and its user from ZooKeeper: the end of a session or of a user's
    rights applies immediately at every admin.

    lifetime_s  seconds after which a session ends
    idle_s      seconds without a request after which a session ends
    issuer      issuer of the OpenID provider that signs users in; empty: there is none. Sessions of
                users of another issuer are invalid
    """

    def __init__(
        self, store: LoginSessionStore, lifetime_s: int, idle_s: int, issuer: str = ""
    ) -> None:
        self._store = store
        self._lifetime_s = lifetime_s
        self._idle_s = idle_s
        self._issuer = issuer

    def open(self, user: User, ends_ms: int = 0) -> OpenSession:
        """Open a session for an authenticated user. Its secret is always new.

        ends_ms  latest end of the session in Unix milliseconds; 0: only the settings limit it
        """
        now = _now_ms()
        self._store.close_where(lambda each: self._is_over(each, now))
        for session_id, _ in self._store.of_user(user.name)[: 1 - MOST_OF_ONE_USER]:
            self._store.close(session_id)
        secret = new_secret()
        opened = LoginSession(user.name, stamp_of(user), now, now, ends_ms)
        self._store.open(id_of(secret), opened)
        return self._session(secret, opened, user)

    def caller(self, accounts: Accounts, secret: str) -> Caller | None:
        """Return the user of the session with this secret, and the user's present rights.

        `accounts` are the present users. Returns None if the session is unknown or has ended, or if
        its user was removed.
        """
        if not secret:
            return None
        session_id, now = id_of(secret), _now_ms()
        found = self._store.find(session_id)
        if found is None:
            return None
        session = found.session
        user = accounts.users.get(session.user)
        if user is None or not session.is_of(user) or self._is_over(session, now):
            if accounts.users:  # not after a ZooKeeper that lost them, or was read while empty
                self._store.close(session_id)
            return None
        if user.identity is not None and user.identity.issuer != self._issuer:
            return None
        if now >= session.seen_ms + _NOTED_EVERY_MS:
            self._store.note_use(session_id, found, now)
        return Caller(user.name, user.grant.rights, True, self._session(secret, session, user))

    def close(self, secret: str) -> None:
        """End the session with this secret. Nothing happens if the session has already ended."""
        if secret:
            self._store.close(id_of(secret))

    def close_all(self, name: str) -> int:
        """End all sessions of the user of this name; return how many ended."""
        return self._store.close_where(lambda each: each.user == name)

    def _session(self, secret: str, session: LoginSession, user: User) -> OpenSession:
        ends_ms = session.created_ms + self._lifetime_s * 1000
        ends_ms = min(ends_ms, session.ends_ms or ends_ms)
        return OpenSession(secret, ends_ms, by_provider=user.identity is not None)

    def _is_over(self, session: LoginSession, now_ms: int) -> bool:
        return session.is_over(now_ms, self._lifetime_s, self._idle_s)


def _now_ms() -> int:
    return int(time() * 1000)
