"""Users and tokens of the admin, changed by somebody who can log in to the stores."""

from dataclasses import dataclass, field
from secrets import token_urlsafe
from time import time
from typing import Final

from relay.audit import AuditEntry, AuditTrail, DelayedTrail
from relay.model.accounts import Accounts, ApiToken, Grant, Role, User, check_password, secret_hash
from relay.operations.who import Who
from relay.passwords import hashed
from relay.settings import RelaySettings
from relay.state import AccountStore, LoginSessionStore, Paths
from relay.zk import Session

_PREFIX: Final = "roma_"
"""So that scanners of secrets can find tokens."""
_RANDOM_BYTES: Final = 32
_SHOWN: Final = 4
_DAY_MS: Final = 86_400_000
_COMMAND_LINE: Final = "command line, with the login of ZooKeeper"


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token that was just made; `secret` is kept nowhere else."""

    token: ApiToken
    secret: str


@dataclass(frozen=True, slots=True)
class UserChange:
    """What a user shall be; without a password the present one stays."""

    grant: Grant
    disabled: bool = False
    password: str = field(default="", repr=False)


class AccountEditor:
    """Adds, changes and removes users and tokens.

    Each change is in the audit trail, as soon as Kafka takes it.

    acts  takes the entries; without it the editor has a trail of its own
    via   what the entries say of the way that the change was made
    """

    def __init__(
        self,
        settings: RelaySettings,
        session: Session,
        acts: DelayedTrail | None = None,
        via: str = _COMMAND_LINE,
    ) -> None:
        self._store = AccountStore(session, Paths.of(settings.zookeeper, settings.installation))
        self._sessions = LoginSessionStore(
            session, Paths.of(settings.zookeeper, settings.installation)
        )
        self._acts = acts or DelayedTrail(AuditTrail(settings.kafka, settings.installation))
        self._via = via

    def close(self, seconds: float) -> None:
        """Wait up to `seconds` for Kafka to take the entries.

        The log names those that it did not take.
        """
        self._acts.close(seconds)

    def accounts(self) -> Accounts:
        """Return all users and tokens."""
        return self._store.read()

    def state(self) -> tuple[Accounts, int]:
        """Return all users and tokens with the number of this state; 0: nothing was ever saved."""
        return self._store.state()

    def add_user(
        self,
        name: str,
        grant: Grant,
        who: Who,
        *,
        password: str = "",
        base: int | None = None,
    ) -> None:
        """Add a user, without a password where it is empty; with `base` only to this state.

        Raises AccountRefused, VersionConflict.
        """
        user = User(name, grant, _now_ms(), password=_hash_of(name, password) if password else "")
        self._store.change(lambda accounts: accounts.with_user(user), base=base)
        self._note("user.added", {}, {"user": name, **_told(grant)}, who)

    def set_grant(self, name: str, grant: Grant, who: Who) -> None:
        """Change what a user may do. Raises AccountRefused."""
        before = self._store.read().user(name).grant
        self._store.change(lambda accounts: accounts.changed(name, grant=grant))
        self._note(
            "user.changed", {"user": name, **_told(before)}, {"user": name, **_told(grant)}, who
        )

    def add_first_admin(self, name: str, password: str) -> None:
        """Add an administrator where there are no users yet.

        Raises AccountRefused.
        """
        user = User(name, Grant(Role.ADMIN), _now_ms(), password=_hash_of(name, password))
        self._store.change(lambda accounts: accounts.with_first_user(user))
        self._note("user.added", {}, {"user": name, **_told(user.grant)}, Who(name))

    def change_user(self, name: str, wanted: UserChange, who: Who, base: int) -> None:
        """Change what a user may do, and its password where one is given.

        A new password, and disabling, end the user's sessions.

        Raises AccountRefused, and VersionConflict for another state than `base`.
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
        """Disable a user, whose sessions end and whose tokens are refused from now on, or enable
        it again.

        Raises AccountRefused.
        """
        self._store.change(lambda accounts: accounts.changed(name, disabled=disabled))
        if disabled:
            self.end_sessions(name)
        self._note("user.disabled" if disabled else "user.enabled", {}, {"user": name}, who)

    def set_password(self, name: str, password: str, who: Who) -> None:
        """Set the password of a user and end all its sessions. Raises AccountRefused."""
        self._store.read().user(name)
        wanted = _hash_of(name, password)
        self._store.change(lambda accounts: accounts.changed(name, password=wanted))
        self.end_sessions(name)
        self._note("user.password_set", {}, {"user": name}, who)

    def remove_password(self, name: str, who: Who) -> None:
        """Remove the password of a user, who can then not sign in, and end all its sessions.

        Raises AccountRefused.
        """
        self._store.change(lambda accounts: accounts.changed(name, password=""))
        self.end_sessions(name)
        self._note("user.password_removed", {}, {"user": name}, who)

    def end_sessions(self, name: str) -> int:
        """Sign a user out everywhere; return how many sessions that were."""
        return self._sessions.close_where(lambda each: each.user == name)

    def add_token(
        self, name: str, owner: str, grant: Grant | None, days: int, who: Who
    ) -> NewToken:
        """Make a token for a user; without `grant` it may do what its owner may do now.

        It expires after `days`, 0: never.

        Raises AccountRefused.
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
        """Remove a token; it is refused from now on. Raises AccountRefused."""
        owner = self._store.read().token(name).owner
        self._store.change(lambda accounts: accounts.without_token(name))
        self._note("token.revoked", {"token": name, "owner": owner}, {}, who)

    def _note(
        self, act: str, before: dict[str, object], after: dict[str, object], who: Who
    ) -> None:
        after = {**after, "via": self._via}
        self._acts.note(AuditEntry(who.name, act, "", before, after, who.comment))


def _told(grant: Grant) -> dict[str, object]:
    return {"role": grant.role.value, "values": grant.values}


def _hash_of(name: str, password: str) -> str:
    check_password(name, password)
    return hashed(password)


def _now_ms() -> int:
    return int(time() * 1000)
