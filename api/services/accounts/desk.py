"""Users and tokens, changed by an administrator; one's own account, changed by its user."""

from dataclasses import dataclass

from anyio import to_thread

from api.access import Caller
from api.access.login import LoginDesk, SignedIn
from api.entity_tag import Precondition
from api.errors import NoSuchThing, SessionMissing
from relay.errors import AccountRefused
from relay.model.accounts import ApiToken, Grant, Role, User
from relay.operations import AccountEditor, NewToken, UserChange, Who


@dataclass(frozen=True, slots=True)
class AccountList:
    """All users and tokens by name, with the name of this state."""

    users: tuple[User, ...]
    tokens: tuple[ApiToken, ...]
    state: str


class AccountDesk:
    """Changes accounts through the editor that the command line uses as well."""

    def __init__(self, editor: AccountEditor, login: LoginDesk) -> None:
        self._editor = editor
        self._login = login

    def accounts(self) -> AccountList:
        """Return all users and tokens."""
        accounts, state = self._editor.state()
        return AccountList(
            tuple(user for _, user in sorted(accounts.users.items())),
            tuple(token for _, token in sorted(accounts.tokens.items())),
            state,
        )

    def user(self, name: str) -> User:
        """Return a user. Raises NoSuchThing."""
        found = self._editor.accounts().users.get(name)
        if found is None:
            raise NoSuchThing(f"There is no user {name}.")
        return found

    def save_user(
        self, name: str, wanted: UserChange, known: Precondition, caller: Caller, who: Who
    ) -> bool:
        """Add a user, or change one; return whether it was added.

        Raises AccountRefused, VersionConflict, PreconditionFailed, PreconditionRequired.
        """
        accounts, state = self._editor.state()
        exists = name in accounts.users
        known.check(state, exists=exists)
        if exists:
            _check_own(name, wanted, caller)
            self._editor.change_user(name, wanted, who, state)
        else:
            if wanted.disabled:
                raise AccountRefused("A new user cannot be disabled.")
            self._editor.add_user(name, wanted.grant, who, password=wanted.password, base=state)
        return not exists

    def add_token(self, name: str, owner: str, grant: Grant, days: int, who: Who) -> NewToken:
        """Make a token. Raises AccountRefused."""
        return self._editor.add_token(name, owner, grant, days, who)

    def revoke_token(self, name: str, who: Who) -> None:
        """Revoke a token. Raises NoSuchThing."""
        if name not in self._editor.accounts().tokens:
            raise NoSuchThing(f"There is no token {name}.")
        self._editor.revoke_token(name, who)

    async def make_first_admin(self, name: str, password: str, address: str) -> SignedIn:
        """Add the first user, an administrator, and sign it in. Raises AccountRefused."""
        await self._login.hash_in_turn(lambda: self._editor.add_first_admin(name, password))
        return await self._login.sign_in(name, password, address)

    async def change_own_password(
        self, caller: Caller, present: str, wanted: str, address: str
    ) -> SignedIn:
        """Change the password of the caller, end its sessions, and open a new one.

        Raises SessionMissing, LoginRefused, LoginPaused, AccountRefused.
        """
        name = _own(caller)
        if caller.session is not None and caller.session.by_provider:
            raise AccountRefused("The provider that signed you in keeps your password.")
        await self._login.verify_again(name, present, address)
        await self._login.hash_in_turn(
            lambda: self._editor.set_password(name, wanted, Who(caller.name))
        )
        return await self._login.sign_in(name, wanted, address)

    async def end_own_sessions(self, caller: Caller) -> int:
        """Sign the caller out everywhere; return how many sessions that were.

        Raises SessionMissing.
        """
        return int(await to_thread.run_sync(self._login.sign_out_everywhere, _own(caller)))


def _own(caller: Caller) -> str:
    if caller.session is None:
        raise SessionMissing("Only a user who signed in has an account to change here.")
    return caller.name


def _check_own(name: str, wanted: UserChange, caller: Caller) -> None:
    """Keep administrators from locking themselves out. Raises AccountRefused."""
    if (
        caller.is_user
        and name == caller.name
        and (wanted.disabled or wanted.grant.role is not Role.ADMIN)
    ):
        raise AccountRefused(
            "You cannot disable your own account or change your own role. Another "
            "administrator can."
        )
