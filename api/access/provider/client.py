"""The requests to the provider. The only module that imports authlib and joserfc."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import Any, Final
from urllib.parse import urlencode

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from requests import RequestException

from api.access.provider.attempt import Attempt
from api.access.provider.errors import ProviderAway, ProviderTokenRefused, ProviderUnusable
from api.access.provider.profile import lacks_claims
from relay.settings import OidcSettings, checked_address

KEPT_SECONDS: Final = 3600.0
"""The provider's description and keys are read again after this time."""
KEYS_AGAIN_SECONDS: Final = 10.0
"""Shortest time in seconds between two reads of the keys for ID tokens that name an unknown key."""
AWAY_SECONDS: Final = 2.0
"""After a missing answer, the provider's description is not requested again for this many
seconds.
"""
LEEWAY_SECONDS: Final = 30
"""Largest accepted difference in seconds between the clocks of provider and admin."""
_ALGORITHMS: Final = [f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)]
_KEY_KINDS: Final = frozenset({"RSA", "EC"})
_DESCRIPTION: Final = "/.well-known/openid-configuration"


@dataclass(frozen=True, slots=True)
class _Known:
    """The provider's description of itself, and when it was read; monotonic seconds."""

    description: Mapping[str, Any]
    keys: KeySet
    read_s: float


class ProviderClient:
    """Requests the provider's description, tokens and claims. Thread-safe."""

    def __init__(self, settings: OidcSettings, clock: Callable[[], float] = monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self._lock = Lock()
        self._known: _Known | None = None
        self._away_until_s = 0.0

    @property
    def callback(self) -> str:
        """Return the URL to which the provider redirects the browser after a sign-in."""
        return f"{self._settings.public_url.rstrip('/')}/login/oidc/callback"

    def login_address(self, attempt: Attempt) -> str:
        """Return the provider's URL for this sign-in. Raises ProviderAway, ProviderUnusable."""
        description = self._read().description
        with self._session(description) as session:
            address, _ = session.create_authorization_url(
                _endpoint(description, "authorization_endpoint"),
                state=attempt.state,
                nonce=attempt.nonce,
                code_verifier=attempt.verifier,
            )
        return str(address)

    def logout_address(self) -> str:
        """Return the provider's URL for signing out; empty if the provider has none, and while the
        URL is unknown.
        """
        known = self._known
        if known is None or "end_session_endpoint" not in known.description:
            return ""
        query = {
            "client_id": self._settings.client_id,
            "post_logout_redirect_uri": f"{self._settings.public_url.rstrip('/')}/login",
        }
        return f"{_endpoint(known.description, 'end_session_endpoint')}?{urlencode(query)}"

    def claims(self, code: str, attempt: Attempt) -> Mapping[str, Any]:
        """Return the verified claims about the user.

        code     authorization code in the provider's answer
        attempt  the sign-in that the answer belongs to

        Raises ProviderAway, ProviderUnusable, ProviderTokenRefused.
        """
        known = self._read()
        with self._session(known.description) as session:
            try:
                token = session.fetch_token(
                    _endpoint(known.description, "token_endpoint"),
                    grant_type="authorization_code",
                    code=code,
                    code_verifier=attempt.verifier,
                    timeout=self._settings.timeout_seconds,
                    allow_redirects=False,
                )
                claims = self._verified(token, attempt, known)
                if not lacks_claims(claims, self._settings):
                    return claims
                return self._completed(claims, session, known)
            except AuthlibBaseError as exc:
                raise ProviderTokenRefused(f"The provider refused the code ({exc.error}).") from exc
            except (RequestException, ValueError) as exc:
                raise _away(exc) from exc

    def _verified(
        self, token: Mapping[str, Any], attempt: Attempt, known: _Known
    ) -> Mapping[str, Any]:
        text = token.get("id_token")
        if not isinstance(text, str):
            raise ProviderTokenRefused("The provider's answer has no ID token.")
        try:
            decoded = jwt.decode(text, self._keys_for(text, known), algorithms=_ALGORITHMS)
            claims = CodeIDToken(
                decoded.claims,
                decoded.header,
                {
                    "iss": {"essential": True, "value": self._settings.issuer},
                    "aud": {"essential": True, "value": self._settings.client_id},
                    "sub": {"essential": True},
                },
                {
                    "nonce": attempt.nonce,
                    "client_id": self._settings.client_id,
                    "access_token": token.get("access_token"),
                },
            )
            claims.validate(leeway=LEEWAY_SECONDS)
        except (JoseError, ValueError) as exc:
            raise ProviderTokenRefused(f"The ID token is not valid: {_told(exc)}") from exc
        return dict(claims)

    def _completed(
        self, claims: Mapping[str, Any], session: OAuth2Session, known: _Known
    ) -> Mapping[str, Any]:
        """Return the claims with those of the provider's endpoint for them, if it has one."""
        if "userinfo_endpoint" not in known.description:
            return claims
        answer = session.get(
            _endpoint(known.description, "userinfo_endpoint"),
            timeout=self._settings.timeout_seconds,
            allow_redirects=False,
        )
        answer.raise_for_status()
        more = answer.json()
        if not isinstance(more, dict) or more.get("sub") != claims["sub"]:
            raise ProviderTokenRefused(
                "The provider's user information describes another user than the ID token."
            )
        return {**more, **claims}

    def _keys_for(self, token: str, known: _Known) -> KeySet:
        """Return the provider's keys, read again if the token was signed by a new one."""
        try:
            jwt.decode(token, known.keys, algorithms=_ALGORITHMS)
        except (JoseError, ValueError):
            return self._read(KEYS_AGAIN_SECONDS).keys
        return known.keys

    def _read(self, kept_s: float = KEPT_SECONDS) -> _Known:
        with self._lock:
            now = self._clock()
            if self._known is not None and now - self._known.read_s < kept_s:
                return self._known
            if now < self._away_until_s:
                raise ProviderAway("The provider did not answer a moment ago. Try again soon.")
            try:
                self._known = self._asked(now)
            except (RequestException, ValueError) as exc:
                self._away_until_s = self._clock() + AWAY_SECONDS
                raise _away(exc) from exc
            return self._known

    def _asked(self, now: float) -> _Known:
        with self._session({}) as session:
            description = self._document(session, self._settings.issuer.rstrip("/") + _DESCRIPTION)
            if description.get("issuer") != self._settings.issuer:
                raise ProviderUnusable(
                    f"The provider names its issuer {str(description.get('issuer'))[:200]!r}, and "
                    f"api.oidc.issuer is {self._settings.issuer!r}."
                )
            keys = self._document(session, _endpoint(description, "jwks_uri")).get("keys")
        usable = [
            each
            for each in (keys if isinstance(keys, list) else [])
            if isinstance(each, dict) and each.get("kty") in _KEY_KINDS
        ]
        try:
            return _Known(description, KeySet.import_key_set({"keys": usable}), now)
        except (JoseError, ValueError) as exc:
            raise ProviderUnusable(f"The provider's keys cannot be read: {_told(exc)}") from exc

    def _document(self, session: OAuth2Session, address: str) -> dict[str, Any]:
        answer = session.get(
            address,
            withhold_token=True,
            timeout=self._settings.timeout_seconds,
            allow_redirects=False,
        )
        answer.raise_for_status()
        document = answer.json()
        if not isinstance(document, dict):
            raise ValueError(f"{address} answers, but not with a JSON object")
        return document

    def _session(self, description: Mapping[str, Any]) -> OAuth2Session:
        session = OAuth2Session(
            self._settings.client_id,
            self._settings.client_secret.get_secret_value(),
            token_endpoint_auth_method=_way_of_secret(description),
            scope=" ".join(self._settings.scopes),
            redirect_uri=self.callback,
            code_challenge_method="S256",
        )
        session.verify = True if self._settings.ca is None else str(self._settings.ca)
        session.trust_env = self._settings.issuer.startswith("https:")
        return session


def _way_of_secret(description: Mapping[str, Any]) -> str:
    """Return how the admin proves itself: by the header, or by the form if only that is taken."""
    ways = description.get("token_endpoint_auth_methods_supported", [])
    in_form = "client_secret_post" in ways and "client_secret_basic" not in ways
    return "client_secret_post" if in_form else "client_secret_basic"


def _endpoint(description: Mapping[str, Any], name: str) -> str:
    """Return an address of the description. Raises ProviderUnusable."""
    address = str(description.get(name, ""))
    try:
        checked_address(address.partition("?")[0])
    except ValueError as exc:
        raise ProviderUnusable(
            f"The provider's {name} is {address[:200]!r}, and the admin does not use this URL: "
            f"it {exc}."
        ) from exc
    return address


def _away(error: Exception) -> ProviderAway:
    return ProviderAway(f"The provider's answer is unusable ({type(error).__name__}).")


def _told(error: Exception) -> str:
    """Return an error of the libraries as a sentence; none of them contains a token or a secret."""
    return f"{str(error)[:200].rstrip('.')}."
