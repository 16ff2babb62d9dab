"""Users and tokens of the admin, changed by somebody who can log in to the stores."""

from dataclasses import dataclass
from secrets import token_urlsafe
from time import time
from typing import Final

from relay.audit import AuditEntry, AuditTrail, DelayedTrail
from relay.model.accounts import Accounts, ApiToken, Grant, User, check_password, secret_hash
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
_VIA: Final = {"via": "command line, with the login of ZooKeeper"}


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token that was just made; `secret` is kept nowhere else."""

    token: ApiToken
    secret: str


class AccountEditor:
    """Adds, changes and removes users and tokens.

    Each change is in the audit trail, as soon as Kafka takes it.
    """

    def __init__(self, settings: RelaySettings, session: Session) -> None:
        self._store = AccountStore(session, Paths.of(settings.zookeeper, settings.installation))
        self._sessions = LoginSessionStore(
            session, Paths.of(settings.zookeeper, settings.installation)
        )
        self._acts = DelayedTrail(AuditTrail(settings.kafka, settings.installation))

    def close(self, seconds: float) -> None:
        """Wait up to `seconds` for Kafka to take the entries.

        The log names those that it did not take.
        """
        self._acts.close(seconds)

    def accounts(self) -> Accounts:
        """Return all users and tokens."""
        return self._store.read()

    def add_user(self, name: str, grant: Grant, who: Who, *, password: str = "") -> None:
        """Add a user, without a password where it is empty. Raises AccountRefused."""
        user = User(name, grant, _now_ms(), password=_hash_of(name, password) if password else "")
        self._store.change(lambda accounts: accounts.with_user(user))
        self._note("user.added", {}, {"user": name, **_told(grant)}, who)

    def set_grant(self, name: str, grant: Grant, who: Who) -> None:
        """Change what a user may do. Raises AccountRefused."""
        before = self._store.read().user(name).grant
        self._store.change(lambda accounts: accounts.changed(name, grant=grant))
        self._note(
            "user.changed", {"user": name, **_told(before)}, {"user": name, **_told(grant)}, who
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
        self._note("user.password-set", {}, {"user": name}, who)

    def remove_password(self, name: str, who: Who) -> None:
        """Remove the password of a user, who can then not sign in, and end all its sessions.

        Raises AccountRefused.
        """
        self._store.change(lambda accounts: accounts.changed(name, password=""))
        self.end_sessions(name)
        self._note("user.password-removed", {}, {"user": name}, who)

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
        self._acts.note(AuditEntry(who.name, act, "", before, {**after, **_VIA}, who.comment))


def _told(grant: Grant) -> dict[str, object]:
    return {"role": grant.role.value, "values": grant.values}


def _hash_of(name: str, password: str) -> str:
    check_password(name, password)
    return hashed(password)


def _now_ms() -> int:
    return int(time() * 1000)
