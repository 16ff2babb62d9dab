"""Who may do what through the admin: users, their API tokens, roles and rights, without I/O."""

from relay.model.accounts.accounts import Accounts, ApiToken, Grant, User, secret_hash
from relay.model.accounts.login_session import LoginSession, stamp_of
from relay.model.accounts.passwords import MOST_CHARACTERS, check_password
from relay.model.accounts.roles import Right, Role, rights_of

__all__ = [
    "MOST_CHARACTERS",
    "Accounts",
    "ApiToken",
    "Grant",
    "LoginSession",
    "Right",
    "Role",
    "User",
    "check_password",
    "rights_of",
    "secret_hash",
    "stamp_of",
]
