"""The values of one sign-in by an OpenID provider, which are derived from a secret of the browser.

The secret is in a cookie, so a sign-in that began at one admin can be finished at another admin of
the installation.
"""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from hmac import compare_digest, digest
from typing import Final

from api.access.provider.errors import AttemptUnknown

VALID_SECONDS: Final = 600
"""Time limit in seconds for the user's sign-in at the provider."""
_MOST_CHARACTERS: Final = 4000


@dataclass(frozen=True, slots=True)
class Attempt:
    """A sign-in that a browser has begun.

    secret     value of the browser's cookie, 256 random bits
    following  the page to go to afterwards
    begun_s    Unix seconds
    """

    secret: str = field(repr=False)
    following: str
    begun_s: int

    @property
    def state(self) -> str:
        """Return the state parameter: page and time, with a proof of the secret.

        The provider returns it unchanged in its answer.
        """
        text = _encoded(json.dumps([self.begun_s, self.following]).encode())
        return f"{text}.{_derived(self.secret, f'state {text}')}"

    @property
    def nonce(self) -> str:
        """Return the value that the ID token must repeat."""
        return _derived(self.secret, "nonce")

    @property
    def verifier(self) -> str:
        """Return the PKCE secret (RFC 7636), whose hash was sent to the provider."""
        return _derived(self.secret, "verifier")

    @classmethod
    def of_answer(cls, state: str, secret: str, now_s: float) -> "Attempt":
        """Return the attempt to which a provider's answer belongs. `state` is in the answer, and
        `secret` in the browser's cookie.

        Raises AttemptUnknown for a state of another browser, a damaged or expired state, and a
        browser without an open attempt.
        """
        if not secret:
            raise AttemptUnknown(
                "This browser has no open sign-in: the sign-in was finished, is older than "
                f"{VALID_SECONDS // 60} minutes, or began in another browser."
            )
        text, _, proof = state[:_MOST_CHARACTERS].partition(".")
        wanted = _derived(secret, f"state {text}")
        if not compare_digest(proof.encode("utf-8", "surrogatepass"), wanted.encode()):
            raise AttemptUnknown(
                "The provider's answer belongs to another sign-in than the newest one of this "
                "browser."
            )
        begun_s, following = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        if not 0 <= now_s - begun_s <= VALID_SECONDS:
            raise AttemptUnknown(
                f"The sign-in took longer than {VALID_SECONDS // 60} minutes, or the clocks of two "
                "admins differ."
            )
        return cls(secret, following, begun_s)


def _derived(secret: str, use: str) -> str:
    return _encoded(digest(secret.encode(), use.encode("utf-8", "surrogatepass"), "sha256"))


def _encoded(value: bytes) -> str:
    return urlsafe_b64encode(value).decode().rstrip("=")
