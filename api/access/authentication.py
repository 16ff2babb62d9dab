"""Which caller a request comes from, by its `Authorization` header."""

from collections.abc import Set
from hmac import compare_digest

from pydantic import SecretStr

from api.access.caller import ANONYMOUS, TOKEN_OF_FILE, Caller
from api.errors import TokenMissing, TokenWrong, WritesForbidden
from relay.model.accounts import Right


class Gate:
    """Admits callers to endpoints. `token` is that of the configuration file; without it nobody writes or reads values of rows."""

    def __init__(self, token: SecretStr | None) -> None:
        self._token = (token.get_secret_value() if token is not None else "").encode()

    def admit(self, authorization: str | None, needed: Set[Right]) -> Caller:
        """Return the caller if it holds the rights. Raises TokenMissing, TokenWrong, WritesForbidden, RightMissing."""
        caller = ANONYMOUS if needed <= ANONYMOUS.rights else self._caller(authorization)
        caller.check(needed)
        return caller

    def _caller(self, authorization: str | None) -> Caller:
        if not self._token:
            raise WritesForbidden("This admin has no token, so it takes no writes and shows no dead letters.")
        scheme, _, sent = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not sent.strip():
            raise TokenMissing("Writes and dead letters need the admin's token, and the request carries none.")
        if not compare_digest(sent.strip().encode("utf-8", "surrogateescape"), self._token):
            raise TokenWrong("The request carries another token than the admin's.")
        return TOKEN_OF_FILE
