"""Changes users and tokens for an administrator, and the caller's own account for its user."""

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
    """All users and tokens.

    users   the users, sorted by name
    tokens  the tokens, sorted by name
    state   a text that changes with each change of a user or token; a client sends it in If-Match
    """

    users: tuple[User, ...]
    tokens: tuple[ApiToken, ...]
    state: str


class AccountDesk:
    """Changes accounts with the same editor as the command line."""

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
        """Return the user of this name. Raises NoSuchThing if there is none."""
        found = self._editor.accounts().users.get(name)
        if found is None:
            raise NoSuchThing(f"There is no user {name}.")
        return found

    def save_user(
        self, name: str, wanted: UserChange, known: Precondition, caller: Caller, who: Who
    ) -> bool:
        """Add a user, or change a user; return True if the user was added.

        name    name of the user
        wanted  the state that the user is to have
        known   the state of the accounts that the client expects (If-Match)
        caller  the sender of the request, who must not remove their own rights
        who     author and comment for the audit trail

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
        """Create a token and return it with its secret. Raises AccountRefused.

        name   name of the token
        owner  user who owns the token
        grant  rights of the token
        days   days until the token expires; 0: it never expires
        who    author and comment for the audit trail
        """
        return self._editor.add_token(name, owner, grant, days, who)

    def revoke_token(self, name: str, who: Who) -> None:
        """Remove a token. Raises NoSuchThing if there is no token of this name."""
        if name not in self._editor.accounts().tokens:
            raise NoSuchThing(f"There is no token {name}.")
        self._editor.revoke_token(name, who)

    async def make_first_admin(self, name: str, password: str, address: str) -> SignedIn:
        """Add the first user, an administrator, and open a session for this user.

        `address` is the address of the client. Raises AccountRefused, and the errors of
        `LoginDesk.sign_in`.
        """
        await self._login.hash_in_turn(lambda: self._editor.add_first_admin(name, password))
        return await self._login.sign_in(name, password, address)

    async def change_own_password(
        self, caller: Caller, present: str, wanted: str, address: str
    ) -> SignedIn:
        """Change the caller's password, end all sessions of the caller, and open a new one.

        present  the present password
        wanted   the new password
        address  address of the client

        Raises SessionMissing, LoginRefused, LoginPaused, AccountRefused.
        """
        name = _own(caller)
        if caller.session is not None and caller.session.by_provider:
            raise AccountRefused(
                "You signed in at an OpenID provider, so this installation has no password of "
                "yours. Change it at the provider."
            )
        await self._login.verify_again(name, present, address)
        await self._login.hash_in_turn(
            lambda: self._editor.set_password(name, wanted, Who(caller.name))
        )
        return await self._login.sign_in(name, wanted, address)

    async def end_own_sessions(self, caller: Caller) -> int:
        """End all sessions of the caller; return how many ended.

        Raises SessionMissing if the caller is not a signed-in user.
        """
        return int(await to_thread.run_sync(self._login.sign_out_everywhere, _own(caller)))


def _own(caller: Caller) -> str:
    if caller.session is None:
        raise SessionMissing(
            "The caller is not a signed-in user, so there is no own account to change."
        )
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
