"""Sign-in by the provider: attempts, users from its claims, sessions."""

from collections.abc import Callable
from dataclasses import dataclass
from time import time
from typing import Final, TypeVar

from anyio import CapacityLimiter, to_thread

from api.access.cookies import new_secret
from api.access.login import SignedIn
from api.access.login.attempt_notes import AttemptNotes
from api.access.login.login_sessions import LoginSessions
from api.access.provider.attempt import Attempt
from api.access.provider.client import ProviderClient
from api.access.provider.errors import (
    AttemptUnknown,
    ProviderDenied,
    ProviderRoleMissing,
    ProviderTokenRefused,
    ProviderUserRefused,
)
from api.access.provider.limit import FailureLimit
from api.access.provider.profile import Profile, profile_of
from api.errors import LoginBusy
from relay.errors import AccountRefused, RelayError
from relay.model.accounts import Grant
from relay.operations import AccountEditor
from relay.settings import OidcSettings

AT_THE_SAME_TIME: Final = 4
"""Requests to the provider at the same time."""
MOST_WAITING: Final = 50
"""Largest number of sign-ins that wait for such a request."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Finished:
    """A sign-in that succeeded.

    following   the page to go to
    is_renamed  the provider called the user by another name before
    """

    signed_in: SignedIn
    following: str
    is_renamed: bool


class ProviderDesk:
    """Sends users to the OpenID provider, and opens a session after it has signed them in."""

    def __init__(
        self,
        settings: OidcSettings,
        client: ProviderClient,
        editor: AccountEditor,
        sessions: LoginSessions,
        notes: AttemptNotes,
    ) -> None:
        self.title = settings.title
        self._settings = settings
        self._client = client
        self._editor = editor
        self._sessions = sessions
        self._notes = notes
        self._failures = FailureLimit()
        self._limit = CapacityLimiter(AT_THE_SAME_TIME)
        self._waiting = 0

    async def begin(self, following: str, address: str) -> tuple[Attempt, str]:
        """Return a new attempt, and the provider's address for it.

        Raises LoginPaused, LoginBusy, ProviderAway, ProviderUnusable.
        """
        self._failures.check(address)
        attempt = Attempt(new_secret(), following, int(time()))
        return attempt, await self._in_turn(lambda: self._client.login_address(attempt))

    async def finish(
        self,
        answer: "Answer",
        secret: str,
        present: str,
        address: str,
        *,
        cross_site: bool = False,
    ) -> Finished:
        """Open a session for the user whom the provider has signed in.

        secret   of the browser's attempt
        present  secret of the browser's present session, which ends; empty: none
        cross_site  another site redirected the browser here, perhaps the provider. An answer
        without an attempt is then not counted as a failure: any page could exhaust the limit

        Raises the errors of `api.access.provider.errors`, LoginPaused, LoginBusy, and the errors of
        reading and writing ZooKeeper.
        """
        self._failures.check(address)
        try:
            attempt = Attempt.of_answer(answer.state, secret, time())
            answer.check(self._settings.issuer)
            claims = await self._in_turn(lambda: self._client.claims(answer.code, attempt))
            profile = profile_of(claims, self._settings)
            return await to_thread.run_sync(self._open, profile, attempt, present, address)
        except RelayError as error:
            is_unknown = isinstance(error, AttemptUnknown) and not cross_site
            if is_unknown or isinstance(error, ProviderTokenRefused):
                self._failures.failed(address)
            self._notes.refused("", address, error.code)
            raise

    def logout_address(self) -> str:
        """Return the provider's address for signing out; empty while it is unknown or missing."""
        return self._client.logout_address()

    def _open(self, profile: Profile, attempt: Attempt, present: str, address: str) -> Finished:
        grant = profile.grant or self._without_role(profile)
        try:
            user, former = self._editor.sign_in_by_provider(profile.name, profile.identity, grant)
        except AccountRefused as exc:
            raise ProviderUserRefused(exc.reason) from exc
        self._sessions.close(present)
        opened = self._sessions.open(user, profile.ends_ms)
        self._notes.opened(user.name, address, profile.identity)
        return Finished(SignedIn(user, opened), attempt.following, bool(former))

    def _without_role(self, profile: Profile) -> Grant:
        known = self._editor.accounts().identified(profile.identity)
        if known is not None:
            self._editor.end_sessions(known.name)
        raise ProviderRoleMissing(
            f"The provider signed {profile.name[:100]} in, and its claim "
            f"{self._settings.role_claim!r} gives no role here."
        )

    async def _in_turn(self, ask: Callable[[], Result]) -> Result:
        if self._waiting >= MOST_WAITING:
            raise LoginBusy("Too many users sign in at the same time.")
        self._waiting += 1
        try:
            return await to_thread.run_sync(ask, limiter=self._limit)
        finally:
            self._waiting -= 1


@dataclass(frozen=True, slots=True)
class Answer:
    """The parameters of the provider's redirect; empty texts are missing parameters."""

    state: str = ""
    code: str = ""
    error: str = ""
    issuer: str = ""

    def check(self, issuer: str) -> None:
        """Return if it has a code of this provider. Raises ProviderDenied, ProviderTokenRefused."""
        if self.issuer and self.issuer != issuer:  # RFC 9207: an answer of another provider
            raise ProviderTokenRefused(f"The answer is from the issuer {self.issuer[:200]!r}.")
        if self.error:
            raise ProviderDenied(f"The provider answered {self.error[:100]!r}.")
        if not self.code:
            raise ProviderTokenRefused("The provider's answer has no code.")
