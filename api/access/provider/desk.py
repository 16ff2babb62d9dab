"""Signs users in by an OpenID provider: begins attempts, reads users from the provider's claims,
and opens sessions.
"""

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
"""Largest number of parallel requests to the provider."""
MOST_WAITING: Final = 50
"""Largest number of sign-ins that wait for such a request."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Finished:
    """A sign-in that succeeded.

    following   the page to go to
    is_renamed  whether the provider gave another user name at the former sign-in
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
        """Return a new attempt to sign in, and the provider's URL to which the browser must go.

        following  the page to go to after the sign-in
        address    address of the client

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

        answer      parameters of the provider's redirect
        secret      secret of the attempt, from the browser's cookie
        present     secret of the browser's present session, which ends; empty: the browser has none
        address     address of the client
        cross_site  whether another site redirected the browser here, perhaps the provider. An
                    answer without an attempt is then not counted as a failure, because any page
                    could cause it

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
        """Return the provider's URL for signing out; empty if the provider has none, and while the
        URL is unknown.
        """
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
            f"The provider signed {profile.name[:100]} in, but the claim "
            f"{self._settings.role_claim!r} gives the user no role in this installation."
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
    """The parameters of the provider's redirect; an empty text means that the parameter is
    missing.
    """

    state: str = ""
    code: str = ""
    error: str = ""
    issuer: str = ""

    def check(self, issuer: str) -> None:
        """Check that the answer has an authorization code and does not name another issuer.

        Raises ProviderDenied if the provider reports an error, ProviderTokenRefused if the code is
        missing or the issuer is another one.
        """
        if self.issuer and self.issuer != issuer:  # RFC 9207: an answer of another provider
            raise ProviderTokenRefused(f"The answer is from the issuer {self.issuer[:200]!r}.")
        if self.error:
            raise ProviderDenied(f"The provider answered {self.error[:100]!r}.")
        if not self.code:
            raise ProviderTokenRefused("The provider's answer has no code.")
