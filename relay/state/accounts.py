"""Stores the admin's users and tokens. One node has all of them, so that each change is checked
against the others.
"""

import json
from collections.abc import Callable
from typing import Any, Final

from relay.errors import StoreRefused, VersionConflict
from relay.model.accounts import Accounts, ApiToken, Grant, Identity, Role, User
from relay.state.json_object import write_json
from relay.state.paths import Paths
from relay.zk import Node, Session, update_node

FORMAT: Final = 3
"""The newest document format that this version reads. Users may be linked to an identity provider.
"""
_WITHOUT_IDENTITIES: Final = 2
"""Format that is written while no user is linked to an identity provider."""
_WITHOUT_PASSWORDS: Final = 1
"""Format that is written while no user has a password either, so that older versions can read it.
"""
_ALGORITHM: Final = "$argon2id$"


class AccountStore:
    """Reads and changes the users and tokens.

    If another writer was faster, a change without `base` is applied again to the new state.
    """

    def __init__(self, session: Session, paths: Paths) -> None:
        self._session = session
        self._path = paths.accounts

    def read(self) -> Accounts:
        """Return all users and tokens; none if nothing was saved.

        Raises StoreRefused for a node that cannot be read completely.
        """
        node = self._session.find(self._path)
        return Accounts() if node is None else from_document(node.value)

    def state(self) -> tuple[Accounts, str]:
        """Return all users and tokens, and a name of this state; the name is "" if nothing was
        saved.

        Raises StoreRefused for a node that cannot be read completely.
        """
        node = self._session.find(self._path, synced=True)
        return (Accounts(), "") if node is None else (from_document(node.value), node.state)

    def change(self, change: Callable[[Accounts], Accounts], *, base: str | None = None) -> None:
        """Apply a change to the users and tokens; with `base`, only if the present state has this
        name.

        Raises the change's errors, StoreRefused, and VersionConflict if the present state has
        another name than `base`.
        """

        def changed(node: Node | None) -> tuple[None, bytes]:
            if base is not None and base != ("" if node is None else node.state):
                raise VersionConflict("The users and tokens were changed in the meantime.")
            before = Accounts() if node is None else from_document(node.value)
            return None, to_document(change(before))

        update_node(self._session, self._path, changed)


def to_document(accounts: Accounts) -> bytes:
    """Return the node's value, in the oldest format that has all its fields."""
    return write_json(
        {
            "format": _format_of(accounts),
            "users": [_user_fields(each) for _, each in sorted(accounts.users.items())],
            "tokens": [
                {
                    "name": each.name,
                    "owner": each.owner,
                    **_written(each.grant),
                    "hash": each.hash,
                    "last_four": each.last_four,
                    "created_ms": each.created_ms,
                    "expires_ms": each.expires_ms,
                }
                for _, each in sorted(accounts.tokens.items())
            ],
        }
    )


def _format_of(accounts: Accounts) -> int:
    users = accounts.users.values()
    if any(each.identity is not None for each in users):
        return FORMAT
    return _WITHOUT_IDENTITIES if any(each.password for each in users) else _WITHOUT_PASSWORDS


def from_document(value: bytes) -> Accounts:
    """Return the users and tokens in a node's value.

    Raises StoreRefused for a newer format and for anything damaged: leaving a user out would change
    who has access.
    """
    try:
        fields = json.loads(value)
        found = fields["format"]
        if found not in (_WITHOUT_PASSWORDS, _WITHOUT_IDENTITIES, FORMAT):
            raise ValueError(f"format {found}, and this version reads up to {FORMAT}")
        users = [_user(each, found) for each in _list(fields, "users")]
        tokens = [_token(each) for each in _list(fields, "tokens")]
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as exc:
        raise StoreRefused(
            f"The document of the admin's users cannot be read ({exc!r}).",
            remedy=(
                "Use the version that wrote it, or restore the node `accounts` from a backup "
                "(`roma restore`)."
            ),
        ) from exc
    return Accounts({each.name: each for each in users}, {each.name: each for each in tokens})


def _list(fields: dict[str, Any], name: str) -> list[dict[str, Any]]:
    if not isinstance(fields[name], list):
        raise TypeError(f"{name} is not a list")
    return list(fields[name])


def _user_fields(user: User) -> dict[str, object]:
    fields = {
        "name": user.name,
        **_written(user.grant),
        "disabled": user.disabled,
        "created_ms": user.created_ms,
    }
    if user.identity is not None:
        issuer, subject = user.identity.issuer, user.identity.subject
        return {**fields, "identity": {"issuer": issuer, "subject": subject}}
    return {**fields, "password": user.password} if user.password else fields


def _user(fields: dict[str, Any], found: int) -> User:
    return User(
        _text(fields, "name"),
        _grant(fields),
        int(fields["created_ms"]),
        disabled=fields["disabled"] is not False,
        password=_password(fields) if found > _WITHOUT_PASSWORDS and "password" in fields else "",
        identity=_identity(fields["identity"])
        if found == FORMAT and "identity" in fields
        else None,
    )


def _identity(fields: dict[str, Any]) -> Identity:
    return Identity(_text(fields, "issuer"), _text(fields, "subject"))


def _password(fields: dict[str, Any]) -> str:
    password = _text(fields, "password")
    if not password.startswith(_ALGORITHM):
        raise ValueError("a password is not an argon2id hash")
    return password


def _token(fields: dict[str, Any]) -> ApiToken:
    name, owner, digest, last_four = (
        _text(fields, each) for each in ("name", "owner", "hash", "last_four")
    )
    return ApiToken(
        name,
        owner,
        _grant(fields),
        digest,
        last_four,
        int(fields["created_ms"]),
        int(fields["expires_ms"]),
    )


def _text(fields: dict[str, Any], name: str) -> str:
    if not isinstance(fields[name], str):
        raise TypeError(f"{name} is not a text")
    return str(fields[name])


def _written(grant: Grant) -> dict[str, object]:
    return {"role": grant.role.value, "values": grant.values}


def _grant(fields: dict[str, Any]) -> Grant:
    return Grant(Role(fields["role"]), values=fields["values"] is True)
