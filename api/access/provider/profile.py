"""Derives a user's identity, name and rights from a provider's claims."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from api.access.provider.errors import ProviderUserRefused
from api.access.role_map import grant_of
from relay.model.accounts import Grant, Identity
from relay.settings import OidcSettings


@dataclass(frozen=True, slots=True)
class Profile:
    """A user whom the provider has signed in.

    identity  issuer and subject, which identify the user at the provider
    name      the user's name in this installation
    grant     the user's rights; None: no claim gives a role
    ends_ms   Unix milliseconds at which the session must end; 0: the provider sets no end
    """

    identity: Identity
    name: str
    grant: Grant | None
    ends_ms: int


def lacks_claims(claims: Mapping[str, Any], settings: OidcSettings) -> bool:
    """Return whether the claim with the name or the one with the roles is missing."""
    return any(_claim(claims, each) is None for each in (settings.name_claim, settings.role_claim))


def profile_of(claims: Mapping[str, Any], settings: OidcSettings) -> Profile:
    """Return the user whom verified claims describe.

    Raises ProviderUserRefused if the name claim of the settings is missing or empty.
    """
    name = _claim(claims, settings.name_claim)
    if not isinstance(name, str) or not name:
        raise ProviderUserRefused(
            f"The provider sends no claim {settings.name_claim!r}, which must have the user's name."
        )
    said = _texts(_claim(claims, settings.role_claim))
    ends_ms = int(claims["exp"]) * 1000 if settings.session_end == "id_token" else 0
    return Profile(
        Identity(str(claims["iss"]), str(claims["sub"])),
        name,
        grant_of(said, settings.roles, settings.values),
        ends_ms,
    )


def _claim(claims: Mapping[str, Any], path: str) -> object:
    """Return a claim by its name, or by a path of names with dots; None if it is missing."""
    if path in claims:
        return claims[path]
    found: object = claims
    for name in path.split("."):
        if not isinstance(found, Mapping) or name not in found:
            return None
        found = found[name]
    return found


def _texts(claim: object) -> list[str]:
    if isinstance(claim, str):
        return [claim]
    return [each for each in claim if isinstance(each, str)] if isinstance(claim, list) else []
