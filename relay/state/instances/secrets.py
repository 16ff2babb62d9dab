"""Secrets in instance documents: they are masked when shown, and a masked secret is restored only
for the same destination.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from relay.errors import ConfigurationError
from relay.settings import (
    HARMLESS_CLAIM_OPTIONS,
    InstanceSettings,
    RunTimeVariables,
    SourceSettings,
    instance_settings,
)

MASK: Final = "**********"
"""Text that replaces a secret in shown settings.

If an operator sends a document back with this text, the stored secret is kept.
"""
_SECRETS: Final = frozenset({"password", "salt", "secrets"})
_SERVERS: Final = ("source", "group")
"""The parts of a document that define the servers to which the relay logs in."""
_ANY: Final = RunTimeVariables(("*",), resolved=False)
_Fields: TypeAlias = Mapping[str, Any]


def masked(fields: _Fields) -> dict[str, Any]:
    """Return the settings with a mask in place of each secret. The name of an environment variable
    is no secret.
    """
    return {key: _masked(key, value) for key, value in fields.items()}


def with_secrets_of(stored: _Fields, fields: _Fields) -> dict[str, Any]:
    """Return `fields` with the stored secrets in place of the masks.

    Passwords are restored only if each server was already configured with the same user and TLS
    settings. Secrets of claims are restored only if no claim setting changed. Otherwise the mask
    stays, and the operator must enter the secret again.
    """
    return {
        key: _unmasked(value, stored.get(key)) if _may_keep(key, stored, fields) else value
        for key, value in fields.items()
    }


def _may_keep(key: str, stored: _Fields, fields: _Fields) -> bool:
    if key == "claims":
        return _as_shown(("claims",), stored, fields)
    if key not in _SERVERS or _as_shown(_SERVERS, stored, fields):
        return True
    before, after = _destinations(stored), _destinations(fields)
    return before is not None and after is not None and after <= before


def _as_shown(parts: tuple[str, ...], stored: _Fields, fields: _Fields) -> bool:
    shown = masked(stored)
    return all(fields.get(part) == shown.get(part) for part in parts)


def _destinations(fields: _Fields) -> frozenset[tuple[object, ...]] | None:
    """Return each server to which a document's passwords are sent, with user and TLS settings.
    Return None for an invalid document.
    """
    try:
        settings: InstanceSettings = instance_settings({**fields, "name": "any"}, "", _ANY)
    except ConfigurationError:
        return None
    servers = [
        server
        for source in settings.each_source().values()
        for server in (source, source.at_standby())
    ]
    return frozenset(_login(server) for server in servers if server is not None)


def _login(server: SourceSettings) -> tuple[object, ...]:
    return (
        server.host,
        server.port,
        server.user,
        server.tls,
        server.tls_ca,
        server.tls_cert,
        server.tls_key,
        server.tls_legacy,
    )


def _unmasked(value: Any, stored: Any) -> Any:
    if isinstance(value, dict) and isinstance(stored, Mapping):
        return {key: _unmasked(each, stored.get(key)) for key, each in value.items()}
    if isinstance(value, list) and isinstance(stored, list):
        return _list_unmasked(value, stored)
    return stored if value == MASK and stored is not None else value


def _list_unmasked(values: list[Any], stored: list[Any]) -> list[Any]:
    """Restore the secrets in a list.

    An unchanged entry keeps its secrets at any index. If the list has the same length as before, a
    changed entry gets the secrets of the entry at its index.
    """
    shown = [_masked("", each) for each in stored]
    free = list(range(len(stored)))
    assignments: list[int | None] = []
    for value in values:
        place = next((each for each in free if shown[each] == value), None)
        assignments.append(place)
        if place is not None:
            free.remove(place)
    free = free if len(values) == len(stored) else []
    found = [at if place is None and at in free else place for at, place in enumerate(assignments)]
    return [
        value if place is None else _unmasked(value, stored[place])
        for value, place in zip(values, found, strict=True)
    ]


def _masked(key: str, value: Any, inside: bool = False) -> Any:
    secret = inside or key in _SECRETS
    if key == "claims" and isinstance(value, Mapping):
        return _masked_claims(value)
    if isinstance(value, Mapping):
        return {inner: _masked(inner, each, secret) for inner, each in value.items()}
    if isinstance(value, list):
        return [_masked(key, each, secret) for each in value]
    return MASK if secret and value and not _from_environment(value) else value


def _masked_claims(claims: _Fields) -> dict[str, Any]:
    """Mask also options with unknown names, and a URL that contains a password."""
    shown = {name: _masked(name, value) for name, value in claims.items()}
    options = claims.get("options")
    if isinstance(options, Mapping):
        shown["options"] = {
            name: value
            if name in HARMLESS_CLAIM_OPTIONS
            else _masked(name, value, not isinstance(value, bool | int))
            for name, value in options.items()
        }
    if _has_password(claims.get("url")):
        shown["url"] = MASK
    return shown


def _has_password(url: object) -> bool:
    try:
        return isinstance(url, str) and bool(urlsplit(url).password)
    except ValueError:
        return False


def _from_environment(value: object) -> bool:
    return isinstance(value, str) and value.startswith("${") and value.endswith("}")
