"""Identifies the caller of a request by its `Authorization` header or its session."""

from collections.abc import Callable, Set
from hmac import compare_digest
from time import time

from pydantic import SecretStr

from api.access.caller import ANONYMOUS, TOKEN_OF_FILE, Caller
from api.access.trusted_header import check_named
from api.errors import TokenMissing, TokenWrong, WritesForbidden
from relay.errors import RelayError
from relay.model.accounts import Accounts, Right


class Gate:
    """Identifies callers, and checks that they have the rights that an endpoint requires.

    token       token of the configuration file, which has all rights; None: the file has no token
    accounts    reads the users and tokens of the installation
    sessions    finds the user of a session's secret; returns None if the session has ended
    always_ask  whether a caller must identify itself even before the first user is added
    """

    def __init__(
        self,
        token: SecretStr | None,
        accounts: Callable[[], Accounts],
        sessions: Callable[[Accounts, str], Caller | None] = lambda _accounts, _secret: None,
        *,
        always_ask: bool = False,
    ) -> None:
        self._token = (token.get_secret_value() if token is not None else "").encode()
        self._accounts = accounts
        self._sessions = sessions
        self._asks = always_ask

    def admit(
        self,
        authorization: str | None,
        needed: Set[Right],
        secret: str = "",
        named: Caller | None = None,
    ) -> Caller:
        """Return the caller of a request; raise an error unless the caller has all rights in
        `needed`.

        The token is read first, then the user in the proxy's header, then the session. ZooKeeper is
        read unless the request has the token of the configuration file, or no right is needed.

        authorization  the header `Authorization`; None: the request has none
        secret         secret of the request's session; empty: the request has no session
        named          the user whom a proxy names in its header; None: no user is named

        Raises TokenMissing, TokenWrong, WritesForbidden, RightMissing, HeaderUserRefused, and the
        errors of reading the users.
        """
        if not needed:
            return ANONYMOUS
        sent = _sent(authorization)
        caller = (
            self._named(named)
            if named is not None and not sent
            else self._caller(sent, secret, needed)
        )
        caller.check(needed)
        return caller

    def reads_openly(self) -> bool:
        """Return whether a caller without a token and without a session may read now.

        Returns False while ZooKeeper is unavailable, because the users are then unknown.
        """
        try:
            self.admit(None, ANONYMOUS.rights)
        except RelayError:
            return False
        return True

    def _named(self, named: Caller) -> Caller:
        check_named(self._accounts(), named.name)
        return named

    def _caller(self, sent: bytes, secret: str, needed: Set[Right]) -> Caller:
        if sent and self._token and compare_digest(sent, self._token):
            return TOKEN_OF_FILE
        if not sent and not secret and self._token and not needed <= ANONYMOUS.rights:
            raise _missing()
        accounts = self._accounts()
        if accounts.users:
            self._asks = True  # for good: a ZooKeeper that lost its users opens nothing
        if secret and not sent and (caller := self._sessions(accounts, secret)) is not None:
            return caller
        return self._without_session(accounts, sent, needed)

    def _without_session(self, accounts: Accounts, sent: bytes, needed: Set[Right]) -> Caller:
        if not self._asks and needed <= ANONYMOUS.rights:
            return ANONYMOUS
        if not self._token and not accounts.users and not needed <= ANONYMOUS.rights:
            raise WritesForbidden(
                "This admin has no token and no users, so it accepts no writes and shows no "
                "dead letters."
            )
        return _known(accounts, sent)


def _known(accounts: Accounts, sent: bytes) -> Caller:
    if not sent:
        raise _missing()
    found = accounts.holder(sent.decode("utf-8", "surrogateescape"), int(time() * 1000))
    if found is None:
        raise TokenWrong(
            "The request carries a token that is unknown, has expired or was revoked, or whose "
            "owner is disabled."
        )
    user, rights = found
    return Caller(user.name, rights, is_user=True)


def _sent(authorization: str | None) -> bytes:
    scheme, _, token = (authorization or "").partition(" ")
    return token.strip().encode("utf-8", "surrogateescape") if scheme.lower() == "bearer" else b""


def _missing() -> TokenMissing:
    return TokenMissing(
        "The endpoint requires a session or a token, and the request has no valid one."
    )
