"""Signs users in with a name and a password."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from anyio import CapacityLimiter, to_thread

from api.access.caller import Caller, OpenSession
from api.access.login.attempt_notes import AttemptNotes
from api.access.login.login_sessions import LoginSessions
from api.access.login.throttle import LoginThrottle
from api.errors import LoginBusy, LoginRefused
from relay.model.accounts import MOST_CHARACTERS, Accounts, User
from relay.passwords import verify

AT_THE_SAME_TIME: Final = 2
"""Largest number of passwords that are verified in parallel. Each takes 46 MiB and one core."""
MOST_WAITING: Final = 50
"""Largest number of requests that wait for such a verification, or to hash a new password;
further ones get LoginBusy.
"""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A user who has just signed in, and the new session."""

    user: User
    session: OpenSession


class LoginDesk:
    """Verifies passwords and opens sessions.

    accounts  reads the users of the installation
    """

    def __init__(
        self,
        accounts: Callable[[], Accounts],
        sessions: LoginSessions,
        throttle: LoginThrottle,
        notes: AttemptNotes,
    ) -> None:
        self._accounts = accounts
        self._sessions = sessions
        self._throttle = throttle
        self._notes = notes
        self._limit = CapacityLimiter(AT_THE_SAME_TIME)
        self._waiting = 0

    async def sign_in(self, name: str, password: str, address: str, present: str = "") -> SignedIn:
        """Open a session for a user with the right password, and end the browser's former session.

        address  address of the client
        present  secret of the browser's present session; empty: the browser has none

        Raises LoginRefused, LoginPaused, LoginBusy, and the errors of reading and writing
        ZooKeeper.
        """
        user = await self.verify_again(name, password, address)
        opened = await to_thread.run_sync(self._open, user, present)
        self._notes.opened(user.name, address)
        return SignedIn(user, opened)

    async def verify_again(self, name: str, password: str, address: str) -> User:
        """Return the user if `password` is the user's password; attempts are counted like sign-ins.

        `address` is the address of the client.

        Raises LoginRefused, LoginPaused, LoginBusy, and the errors of reading ZooKeeper.
        """
        accounts = await to_thread.run_sync(self._accounts)
        user = accounts.users.get(name)
        self._refuse_more_than_may_wait()
        self._throttle.begin(name, address)
        if not await self._verified(password, user):
            after = self._throttle.failed(name, address)
            self._notes.refused("" if user is None else user.name, address)
            raise LoginRefused(f"Name or password is wrong. {after}")
        if user is None:
            raise AssertionError("a password without a user was verified")
        self._throttle.succeeded(name, address)
        return user

    async def hash_in_turn(self, act: Callable[[], None]) -> None:
        """Run `act`, which hashes a password. At most AT_THE_SAME_TIME such functions and
        verifications run in parallel; further ones wait.

        Raises LoginBusy if MOST_WAITING wait already, and the errors of the function.
        """
        self._refuse_more_than_may_wait()
        await self._in_turn(act)

    def _refuse_more_than_may_wait(self) -> None:
        if self._waiting >= MOST_WAITING:
            raise LoginBusy("Too many users sign in at the same time.")

    async def _in_turn(self, act: Callable[[], Result]) -> Result:
        self._waiting += 1
        try:
            return await to_thread.run_sync(act, limiter=self._limit)
        finally:
            self._waiting -= 1

    async def _verified(self, password: str, user: User | None) -> bool:
        """Return whether this is the password of an enabled user.

        The duration does not show whether the user exists.
        """
        wanted = "" if user is None or user.disabled else user.password
        return await self._in_turn(partial(verify, password[: MOST_CHARACTERS + 1], wanted))

    def sign_out(self, caller: Caller) -> None:
        """End the session of a caller, and record that. Without a session nothing happens."""
        if caller.session is not None:
            self._sessions.close(caller.session.secret)
            self._notes.closed(caller.name)

    def sign_out_everywhere(self, name: str) -> int:
        """End all sessions of the user of this name; return how many ended."""
        ended = self._sessions.close_all(name)
        self._notes.closed(name, ended)
        return ended

    def _open(self, user: User, present: str) -> OpenSession:
        self._sessions.close(present)
        return self._sessions.open(user)
