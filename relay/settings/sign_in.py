"""Sign-in to the admin besides its own users: an OpenID Connect provider, or headers of a proxy."""

import ipaddress
from pathlib import Path
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from relay.model.accounts import Role
from relay.model.loopback import is_loopback
from relay.settings.base import Settings
from relay.settings.secrets import Secret

_HEADER_NAME: Final = r"^[A-Za-z0-9][A-Za-z0-9-]{0,99}$"
HeaderName = Annotated[str, Field(pattern=_HEADER_NAME)]
_TAKEN: Final = frozenset(
    {"authorization", "cookie", "host", "origin", "x-author", "x-comment", "x-csrf-token"}
)
"""HTTP headers that already have a defined meaning."""


class OidcSettings(Settings):
    """Sign-in by an OpenID Connect provider: authorization code flow with PKCE, state and nonce."""

    issuer: str
    """Issuer URL of the provider, as in the field `iss` of its ID tokens. HTTPS, except on
    loopback.
    """
    client_id: str = Field(min_length=1)
    """Client id of the admin at the provider."""
    client_secret: Secret
    """Client secret of the admin at the provider."""
    public_url: str
    """URL of the admin in browsers. Register `<public_url>/login/oidc/callback` at the provider."""
    title: str = Field("your organisation", min_length=1, max_length=60)
    """Name of the provider in the button "Sign in with …"."""
    scopes: tuple[Annotated[str, Field(pattern=r"^[!#-\[\]-~]+$")], ...] = (
        "openid",
        "profile",
        "email",
    )
    """Scopes that the admin requests. `openid` is always included."""
    name_claim: str = Field("preferred_username", min_length=1)
    """Claim with the user's name. Choose one that users cannot change themselves."""
    role_claim: str = Field("groups", min_length=1)
    """Claim that `roles` maps: one text, or a list of texts.

    A dot selects a field of an object, for example `realm_access.roles`.
    """
    roles: dict[str, Role]
    """Value of the claim → role: viewer, editor, operator or admin. The highest one counts."""
    values: tuple[str, ...] = ()
    """Values of the claim that give the right to read values of rows."""
    session_end: Literal["id_token", "settings"] = "id_token"
    """What limits a session: the expiry of the ID token too, or only `api.session_seconds` and
    `api.session_idle_seconds`.
    """
    timeout_seconds: Annotated[float, Field(gt=0, le=30)] = 5.0
    """Timeout of a request to the provider."""
    ca: Path | None = None
    """PEM file of the authority that signed the provider's certificate. Not set: the system's."""

    @field_validator("issuer", "public_url")
    @classmethod
    def _is_protected(cls, value: str) -> str:
        return checked_address(value)

    @model_validator(mode="after")
    def _asks_for_an_identity(self) -> Self:
        if "openid" not in self.scopes:
            raise ValueError('scopes lacks "openid", without which there is no ID token; add it')
        if not self.roles:
            raise ValueError("roles is empty, so no user could sign in; give a group a role")
        return self


class TrustedHeaderSettings(Settings):
    """Sign-in by headers of a proxy that has authenticated the caller."""

    user: HeaderName
    """Header with the user's name. The proxy must remove this header from clients' requests."""
    roles_header: HeaderName
    """Header with the user's roles or groups; commas separate them."""
    roles: dict[str, Role]
    """Value of the header → role: viewer, editor, operator or admin. The highest one counts."""
    values: tuple[str, ...] = ()
    """Values of the header that give the right to read values of rows."""
    proxies: tuple[str, ...] = ()
    """Addresses or networks of the proxy. A request with the header from another sender is refused.

    Empty: loopback, which is allowed only while `api.host` is a loopback address.
    """

    @field_validator("user", "roles_header")
    @classmethod
    def _is_free(cls, value: str) -> str:
        if value.lower() in _TAKEN or value.lower().startswith(("sec-", "x-forwarded-for")):
            raise ValueError(
                f"the admin uses the header {value} for another purpose; choose another header"
            )
        return value

    @field_validator("proxies")
    @classmethod
    def _are_networks(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        for each in values:
            if ipaddress.ip_network(each, strict=False).prefixlen == 0:
                raise ValueError(f"{each} admits every address; list the addresses of the proxy")
        return values

    @model_validator(mode="after")
    def _gives_roles(self) -> Self:
        if self.user.lower() == self.roles_header.lower():
            raise ValueError("user and roles_header must be different headers")
        if not self.roles:
            raise ValueError("roles is empty, so no user would have rights; give a group a role")
        return self


def checked_address(value: str) -> str:
    """Return a URL if its answers cannot be changed in transit. Otherwise raises ValueError."""
    parts = urlsplit(value)
    if parts.query or parts.fragment or parts.username or not parts.hostname:
        raise ValueError("must be https://host/path without query and fragment")
    if parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname)):
        return value.rstrip("/") if not parts.path.strip("/") else value
    raise ValueError("must begin with https://; http:// is allowed only for a loopback address")
