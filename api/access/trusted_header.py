"""Reads the callers that a proxy has signed in, and that it names in headers.

The headers are accepted only from the proxy. The proxy is recognised by the address at the other
end of the connection, not by `X-Forwarded-For`, in which the proxy names the address of its client.
"""

import ipaddress
from http import HTTPStatus
from typing import Final

from starlette.datastructures import Headers

from api.access.caller import Caller
from api.access.login.attempt_notes import AttemptNotes
from api.access.role_map import grant_of
from api.errors import ApiError
from relay.errors import RelayError
from relay.model.accounts import FILE_CALLER, Accounts, is_account_name
from relay.settings import TrustedHeaderSettings

LOOPBACK: Final = ("127.0.0.0/8", "::1")
"""Addresses of the proxy if the settings name none."""


class HeaderRefused(ApiError):
    """A request has the proxy's user header, but did not come from the proxy, or has the header
    twice.
    """

    code = "HEADER_REFUSED"
    remedy = (
        "Send the request through the proxy and without the header, or add the proxy's address to "
        "api.trusted_header.proxies and restart the admin."
    )
    status = HTTPStatus.FORBIDDEN


class HeaderUserRefused(ApiError):
    """The proxy names a user who is not allowed to use this installation."""

    code = "HEADER_USER_REFUSED"
    remedy = (
        "Ask an administrator of this installation, or of the proxy for one of the roles that "
        "api.trusted_header.roles names."
    )
    status = HTTPStatus.FORBIDDEN


class TrustedHeader:
    """Reads the user from the proxy's headers."""

    def __init__(self, settings: TrustedHeaderSettings, notes: AttemptNotes) -> None:
        self._settings = settings
        self._notes = notes
        proxies = settings.proxies or LOOPBACK
        self._networks = [ipaddress.ip_network(each, strict=False) for each in proxies]

    def caller(self, headers: Headers, peer: str) -> Caller | None:
        """Return the user whom the proxy names; None if the request has no such header.

        peer  address of the connection's other side

        Raises HeaderRefused and HeaderUserRefused, after the refusal was recorded in the log and
        the audit trail.
        """
        sent = headers.getlist(self._settings.user)
        if not sent:
            return None
        try:
            return self._checked(sent, headers, peer)
        except RelayError as error:
            self._notes.refused("", peer, error.code)
            raise

    def _checked(self, sent: list[str], headers: Headers, peer: str) -> Caller:
        if not self._is_proxy(peer):
            raise HeaderRefused(
                f"The request has the header {self._settings.user}, and comes from "
                f"{peer or 'an unknown address'}, which is not a configured proxy."
            )
        said = headers.getlist(self._settings.roles_header)
        if len(sent) > 1 or len(said) > 1:
            raise HeaderRefused(
                f"The request has the header {self._settings.user} or "
                f"{self._settings.roles_header} twice: the proxy must replace what clients send."
            )
        name = sent[0].strip()
        if not is_account_name(name):
            raise HeaderUserRefused(
                f"{name[:100]!r} in {self._settings.user} is not a valid user name.",
                remedy="Let the proxy send a name of at most 100 characters of A-Z a-z 0-9 . _ @ - "
                f"that begins with a letter or digit, and not {FILE_CALLER}.",
            )
        roles = [each.strip() for each in said[0].split(",")] if said else []
        grant = grant_of(roles, self._settings.roles, self._settings.values)
        if grant is None:
            raise HeaderUserRefused(
                f"{self._settings.roles_header} gives {name} no role in this installation."
            )
        return Caller(name, grant.rights, is_user=True, by_header=True)

    def _is_proxy(self, peer: str) -> bool:
        try:
            address = ipaddress.ip_address(peer.partition("%")[0])
        except ValueError:
            return False
        if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        return any(address in network for network in self._networks)


def check_named(accounts: Accounts, name: str) -> None:
    """Check that a proxy may sign in a user of this name.

    Raises HeaderUserRefused for a user of the installation who is disabled, or who signs in with a
    password or a provider: otherwise two people would have one name in the audit trail.
    """
    user = accounts.users.get(name)
    if user is None:
        return
    if user.disabled:
        raise HeaderUserRefused(f"User {name} is disabled in this installation.")
    if user.may_sign_in:
        raise HeaderUserRefused(
            f"User {name} of this installation signs in without the proxy, so the proxy's {name} "
            "may be another person."
        )
