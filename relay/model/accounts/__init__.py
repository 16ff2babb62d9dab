"""Who may do what through the admin: users, their API tokens, roles and rights, without I/O."""

from relay.model.accounts.accounts import Accounts, ApiToken, Grant, User, secret_hash
from relay.model.accounts.passwords import check_password
from relay.model.accounts.roles import Right, Role, rights_of

__all__ = [
    "Accounts",
    "ApiToken",
    "Grant",
    "Right",
    "Role",
    "User",
    "check_password",
    "rights_of",
    "secret_hash",
]
