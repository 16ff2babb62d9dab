"""Users and their API tokens as immutable values. A change of `Accounts` returns another
`Accounts`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from hmac import compare_digest
from typing import Final

from relay.errors import AccountRefused
from relay.model.accounts.roles import Right, Role, rights_of

FILE_CALLER: Final = "api.token"
"""The name of the caller with the token of the configuration file (`api.token`), in the audit
trail.
"""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,99}")
_MOST_USERS: Final = 1000
_MOST_TOKENS: Final = 2000
"""Largest number of tokens. All users and tokens are in one ZooKeeper node, which holds at most 1
MB.
"""


@dataclass(frozen=True, slots=True)
class Grant:
    """The rights of a user or token: a role, and with `values` the right to read row values."""

    role: Role
    values: bool = False

    @property
    def rights(self) -> frozenset[Right]:
        """Return the rights of the role, with the right to row values if `values` is set."""
        return rights_of(self.role, values=self.values)


@dataclass(frozen=True, slots=True)
class Identity:
    """The permanent identity of a person at an OpenID Connect provider.

    issuer   address of the provider (claim `iss`)
    subject  id of the person there (claim `sub`); unlike a name, it never changes
    """

    issuer: str
    subject: str


@dataclass(frozen=True, slots=True)
class User:
    """A person or program that uses the admin.

    grant       what it may do
    disabled    its password and its tokens are refused
    created_ms  Unix milliseconds
    password    argon2id hash of the password; empty: the user has none
    identity    the identity at the provider that signs the user in. Such a user has no password,
                and its grant follows from the provider's claims. None: no provider signs it in
    """

    name: str
    grant: Grant
    created_ms: int
    disabled: bool = False
    password: str = field(default="", repr=False)
    identity: Identity | None = None

    @property
    def may_sign_in(self) -> bool:
        """Return whether the user can open a session."""
        return not self.disabled and (bool(self.password) or self.identity is not None)


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A token with which a program acts for a user.

    name        unique among all tokens
    owner       name of the user; the token never allows more than its owner may do
    grant       what the token may do
    hash        SHA-256 of the token in hexadecimal digits; the token itself is not stored
    last_four   the last four characters of the token, by which people recognise it
    created_ms  Unix milliseconds
    expires_ms  the token is refused from this time on; Unix milliseconds, 0: never
    """

    name: str
    owner: str
    grant: Grant
    hash: str
    last_four: str
    created_ms: int
    expires_ms: int = 0

    def has_expired(self, now_ms: int) -> bool:
        """Return whether the token has an expiry time that is at or before `now_ms` (Unix
        milliseconds).
        """
        return 0 < self.expires_ms <= now_ms


def is_account_name(name: str) -> bool:
    """Return whether a user or token may have this name.

    FILE_CALLER is refused: under that name the audit trail records the acts of the configuration
    file's token.
    """
    return _NAME.fullmatch(name) is not None and name.lower() != FILE_CALLER


def secret_hash(secret: str) -> str:
    """Return the hash that is stored of a token.

    Tokens are long and random, so a fast hash is enough.
    """
    return sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


@dataclass(frozen=True, slots=True)
class Accounts:
    """All users and tokens of an installation, by name."""

    users: Mapping[str, User] = field(default_factory=dict)
    tokens: Mapping[str, ApiToken] = field(default_factory=dict)

    def holder(self, secret: str, now_ms: int) -> tuple[User, frozenset[Right]] | None:
        """Return (user, rights) for the secret text of a token: the rights that both the user and
        the token have.

        None if the token is not valid at `now_ms` (Unix milliseconds).
        """
        wanted = secret_hash(secret)
        found = [
            token
            for token in self.tokens.values()
            if compare_digest(token.hash.encode(), wanted.encode())
        ]
        if not found or found[0].has_expired(now_ms):
            return None
        user = self.users.get(found[0].owner)
        if user is None or user.disabled:
            return None
        return user, found[0].grant.rights & user.grant.rights

    def user(self, name: str) -> User:
        """Return the user with this name. Raises AccountRefused if no user has it."""
        if name not in self.users:
            raise AccountRefused(f"There is no user {name}.")
        return self.users[name]

    def token(self, name: str) -> ApiToken:
        """Return the token with this name. Raises AccountRefused if no token has it."""
        if name not in self.tokens:
            raise AccountRefused(f"There is no token {name}.")
        return self.tokens[name]

    def with_user(self, user: User) -> "Accounts":
        """Add a user. Raises AccountRefused if the name is invalid or taken, or there are too many
        users.
        """
        _check_new("user", user.name, self.users, _MOST_USERS)
        return replace(self, users={**self.users, user.name: user})

    def with_first_user(self, user: User) -> "Accounts":
        """Add the first user. Raises AccountRefused if users exist."""
        if self.users:
            raise AccountRefused("There are users already.")
        return self.with_user(user)

    def identified(self, identity: Identity) -> User | None:
        """Return the user of an identity; None if no user has it."""
        return next((each for each in self.users.values() if each.identity == identity), None)

    def signed_in(self, name: str, identity: Identity, grant: Grant, now_ms: int) -> "Accounts":
        """Add or update the user whom a provider has signed in under this name.

        If the provider has changed the user's name, the user is renamed and keeps its tokens.
        Raises AccountRefused if the name is invalid or another user's, or if the user is disabled.
        """
        present = self.identified(identity)
        if present is None:
            return self.with_user(User(name, grant, now_ms, identity=identity))
        if present.disabled:
            raise AccountRefused(f"User {present.name} is disabled.")
        rest = {each: user for each, user in self.users.items() if each != present.name}
        _check_new("user", name, rest, _MOST_USERS)
        users = {**rest, name: replace(present, name=name, grant=grant)}
        tokens = {
            each: replace(token, owner=name) if token.owner == present.name else token
            for each, token in self.tokens.items()
        }
        return replace(self, users=users, tokens=tokens)

    def with_token(self, token: ApiToken) -> "Accounts":
        """Add a token.

        Raises AccountRefused if its name is invalid or taken, if its owner is missing or disabled,
        or if it would give a right that its owner lacks.
        """
        _check_new("token", token.name, self.tokens, _MOST_TOKENS)
        owner = self.user(token.owner)
        if owner.disabled:
            raise AccountRefused(f"User {owner.name} is disabled.")
        if excess := sorted(token.grant.rights - owner.grant.rights):
            raise AccountRefused(
                f"User {owner.name} lacks the right {' and '.join(excess)}, so a token of theirs "
                f"cannot give it."
            )
        return replace(self, tokens={**self.tokens, token.name: token})

    def without_token(self, name: str) -> "Accounts":
        """Revoke a token. Raises AccountRefused if no token has this name."""
        self.token(name)
        return replace(
            self, tokens={each: token for each, token in self.tokens.items() if each != name}
        )

    def changed(
        self,
        name: str,
        *,
        grant: Grant | None = None,
        disabled: bool | None = None,
        password: str | None = None,
    ) -> "Accounts":
        """Change the rights of a user, whether it is disabled, or the hash of its password. None:
        unchanged.

        Raises AccountRefused if there is no such user, or if only the provider can make the change.
        """
        user = self.user(name)
        if user.identity is not None and (password or (grant or user.grant) != user.grant):
            raise AccountRefused(
                f"User {name} is signed in by {user.identity.issuer}, which decides the role, and "
                "has no password here."
            )
        user = replace(
            user,
            grant=grant or user.grant,
            disabled=user.disabled if disabled is None else disabled,
            password=user.password if password is None else password,
        )
        return replace(self, users={**self.users, name: user})


def _check_new(kind: str, name: str, present: Mapping[str, object], most: int) -> None:
    if not is_account_name(name):
        raise AccountRefused(
            f"{name[:100]!r} is not a valid name for a {kind}: use up to 100 of A-Z, a-z, 0-9, "
            f"'.', '_', '@' and '-', and not {FILE_CALLER}."
        )
    if name in present:
        raise AccountRefused(f"There is a {kind} {name} already.")
    if len(present) >= most:
        raise AccountRefused(f"There are {most} {kind}s already.")
