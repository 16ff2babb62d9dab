"""Changes users and tokens of the admin.

The callers decide who may do that; every change has an audit entry.
"""

from dataclasses import dataclass, field, replace
from secrets import token_urlsafe
from time import time
from typing import Final

from relay.audit import AuditEntry, AuditTrail, DelayedTrail
from relay.model.accounts import (
    Accounts,
    ApiToken,
    Grant,
    Identity,
    Role,
    User,
    check_password,
    secret_hash,
)
from relay.operations.who import Who
from relay.passwords import hashed
from relay.settings import RelaySettings
from relay.state import AccountStore, LoginSessionStore, Paths
from relay.zk import Session

_PREFIX: Final = "roma_"
"""Prefix of tokens, by which secret scanners can find them."""
_RANDOM_BYTES: Final = 32
_SHOWN: Final = 4
_DAY_MS: Final = 86_400_000


@dataclass(frozen=True, slots=True)
class NewToken:
    """A newly created token. `secret` is its text, which is not stored anywhere."""

    token: ApiToken
    secret: str


@dataclass(frozen=True, slots=True)
class UserChange:
    """The wanted state of a user: rights (`grant`), and whether the user is disabled. An empty
    `password` keeps the present one.
    """

    grant: Grant
    disabled: bool = False
    password: str = field(default="", repr=False)


class AccountEditor:
    """Adds, changes and removes users and tokens.

    Each change has an audit entry, which is written as soon as Kafka accepts it.

    acts  receives the audit entries; None: the editor uses a trail of its own
    via   the interface by which changes are requested, for the audit entries; "": that of `acts`
    """

    def __init__(
        self,
        settings: RelaySettings,
        session: Session,
        acts: DelayedTrail | None = None,
        via: str = "",
    ) -> None:
        self._store = AccountStore(session, Paths.of(settings.zookeeper, settings.installation))
        self._sessions = LoginSessionStore(
            session, Paths.of(settings.zookeeper, settings.installation)
        )
        self._acts = acts or DelayedTrail(AuditTrail(settings.kafka, settings.installation))
        self._via = via

    def close(self, seconds: float) -> None:
        """Wait up to `seconds` for Kafka to accept the entries.

        Entries that Kafka did not accept are written to the log.
        """
        self._acts.close(seconds)

    def accounts(self) -> Accounts:
        """Return all users and tokens."""
        return self._store.read()

    def state(self) -> tuple[Accounts, str]:
        """Return all users and tokens, and the version of this state; the version is "" if nothing
        was saved.
        """
        return self._store.state()

    def add_user(
        self,
        name: str,
        grant: Grant,
        who: Who,
        *,
        password: str = "",
        base: str | None = None,
    ) -> None:
        """Add a user.

        An empty `password` means that the user has none. `base` is the expected version of the
        state, None for any. Raises AccountRefused if the name is taken or invalid, the password is
        too weak, or there are too many users. Raises VersionConflict if the version is not `base`.
        """
        user = User(name, grant, _now_ms(), password=_hash_of(name, password) if password else "")
        self._store.change(lambda accounts: accounts.with_user(user), base=base)
        self._note("user.added", {}, {"user": name, **_told(grant)}, who)

    def set_grant(self, name: str, grant: Grant, who: Who) -> None:
        """Change the rights of a user. Raises AccountRefused if the user does not exist, or if an
        identity provider decides the user's rights.
        """
        before = self._store.read().user(name).grant
        self._store.change(lambda accounts: accounts.changed(name, grant=grant))
        self._note(
            "user.changed", {"user": name, **_told(before)}, {"user": name, **_told(grant)}, who
        )

    def add_first_admin(self, name: str, password: str) -> None:
        """Add an administrator if there are no users yet. Raises AccountRefused if there are."""
        user = User(name, Grant(Role.ADMIN), _now_ms(), password=_hash_of(name, password))
        self._store.change(lambda accounts: accounts.with_first_user(user))
        self._note("user.added", {}, {"user": name, **_told(user.grant)}, Who(name))

    def sign_in_by_provider(self, name: str, identity: Identity, grant: Grant) -> tuple[User, str]:
        """Add or update the user whom an identity provider has signed in; return (user, former
        name).

        The former name is "" if the user is new or the name is unchanged. Raises AccountRefused if
        the user is disabled, or if another user has the name.
        """
        before = self._store.read().identified(identity)
        if before is None or before.disabled or (before.name, before.grant) != (name, grant):
            now = _now_ms()
            self._store.change(lambda accounts: accounts.signed_in(name, identity, grant, now))
            self._note_provider(before, name, identity, grant)
        user = self._store.read().user(name)
        return user, "" if before is None or before.name == name else before.name

    def change_user(self, name: str, wanted: UserChange, who: Who, base: str) -> None:
        """Change the rights of a user, and the password if one is given.

        A new password, or disabling, ends the user's sessions. `base` is the expected version of
        the state. Raises AccountRefused if the user does not exist, the password is too weak, or
        only the user's identity provider can make the change. Raises VersionConflict if the version
        is not `base`.
        """
        before = self._store.read().user(name)
        password = _hash_of(name, wanted.password) if wanted.password else None
        self._store.change(
            lambda accounts: accounts.changed(
                name, grant=wanted.grant, disabled=wanted.disabled, password=password
            ),
            base=base,
        )
        if wanted.disabled or password:
            self.end_sessions(name)
        self._note(
            "user.changed",
            {"user": name, **_told(before.grant), "disabled": before.disabled},
            {"user": name, **_told(wanted.grant), "disabled": wanted.disabled}
            | ({"password": "changed"} if password else {}),
            who,
        )

    def set_disabled(self, name: str, who: Who, *, disabled: bool) -> None:
        """Disable or enable a user.

        Disabling ends the user's sessions, and the admin refuses the user's tokens immediately.
        Raises AccountRefused if the user does not exist.
        """
        before = self._store.read().user(name).disabled
        self._store.change(lambda accounts: accounts.changed(name, disabled=disabled))
        if disabled:
            self.end_sessions(name)
        self._note(
            "user.disabled" if disabled else "user.enabled",
            {"user": name, "disabled": before},
            {"user": name, "disabled": disabled},
            who,
        )

    def set_password(self, name: str, password: str, who: Who) -> None:
        """Set the password of a user and end all sessions of the user.

        Raises AccountRefused if the user does not exist or signs in by an identity provider, or if
        the password is too weak.
        """
        before = self._store.read().user(name)
        wanted = _hash_of(name, password)
        self._store.change(lambda accounts: accounts.changed(name, password=wanted))
        self.end_sessions(name)
        self._note("user.password_set", _password(before), {"user": name, "password": "set"}, who)

    def remove_password(self, name: str, who: Who) -> None:
        """Remove the password of a user and end all sessions of the user, who then cannot sign in
        with a password.

        Raises AccountRefused if the user does not exist.
        """
        before = self._store.read().user(name)
        self._store.change(lambda accounts: accounts.changed(name, password=""))
        self.end_sessions(name)
        after: dict[str, object] = {"user": name, "password": "none"}
        self._note("user.password_removed", _password(before), after, who)

    def end_sessions(self, name: str) -> int:
        """End all sessions of a user, and return their number."""
        return self._sessions.close_where(lambda each: each.user == name)

    def add_token(
        self, name: str, owner: str, grant: Grant | None, days: int, who: Who
    ) -> NewToken:
        """Create a token for the user `owner`. Without `grant` it gets the user's present rights.

        It expires after `days` days; 0: never. Raises AccountRefused if the user is missing or
        disabled, if `grant` has a right that the user lacks, if the token's name is taken or
        invalid, or if there are too many tokens.
        """
        secret, now = f"{_PREFIX}{token_urlsafe(_RANDOM_BYTES)}", _now_ms()
        grant = grant or self._store.read().user(owner).grant
        token = ApiToken(
            name,
            owner,
            grant,
            secret_hash(secret),
            secret[-_SHOWN:],
            now,
            now + days * _DAY_MS if days else 0,
        )
        self._store.change(lambda accounts: accounts.with_token(token))
        self._note(
            "token.added",
            {},
            {"token": name, "owner": owner, **_told(grant), "expires_ms": token.expires_ms},
            who,
        )
        return NewToken(token, secret)

    def revoke_token(self, name: str, who: Who) -> None:
        """Remove a token. The admin refuses it from now on. Raises AccountRefused if there is no
        such token.
        """
        owner = self._store.read().token(name).owner
        self._store.change(lambda accounts: accounts.without_token(name))
        self._note("token.revoked", {"token": name, "owner": owner}, {}, who)

    def _note_provider(
        self, before: User | None, name: str, identity: Identity, grant: Grant
    ) -> None:
        """Write the audit entry of a change by a provider's sign-in. The user is the actor."""
        told = {"issuer": identity.issuer, "subject": identity.subject}
        after = {"user": name, **_told(grant), **told}
        if before is None:
            self._note("user.added", {}, after, Who(name))
            return
        act = "user.changed" if before.name == name else "user.renamed"
        self._note(act, {"user": before.name, **_told(before.grant)}, after, Who(name))

    def _note(
        self, act: str, before: dict[str, object], after: dict[str, object], who: Who
    ) -> None:
        entry = AuditEntry(who.name, act, "", before, after, who.comment)
        self._acts.note(replace(entry, via=self._via) if self._via else entry)


def _told(grant: Grant) -> dict[str, object]:
    return {"role": grant.role.value, "values": grant.values}


def _password(before: User) -> dict[str, object]:
    """Return the password field of an audit entry: only whether a password was given."""
    return {"user": before.name, "password": "set" if before.password else "none"}


def _hash_of(name: str, password: str) -> str:
    check_password(name, password)
    return hashed(password)


def _now_ms() -> int:
    return int(time() * 1000)
