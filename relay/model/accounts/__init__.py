"""Users of the admin, their API tokens, roles and rights, as values without I/O. The admin and
`relay.state` use them.
"""

from relay.model.accounts.accounts import (
    FILE_CALLER,
    Accounts,
    ApiToken,
    Grant,
    Identity,
    User,
    is_account_name,
    secret_hash,
)
from relay.model.accounts.differences import account_differences
from relay.model.accounts.login_session import LoginSession, stamp_of
from relay.model.accounts.passwords import MOST_CHARACTERS, check_password
from relay.model.accounts.roles import Right, Role, rights_of

__all__ = [
    "FILE_CALLER",
    "MOST_CHARACTERS",
    "Accounts",
    "ApiToken",
    "Grant",
    "Identity",
    "LoginSession",
    "Right",
    "Role",
    "User",
    "account_differences",
    "check_password",
    "is_account_name",
    "rights_of",
    "secret_hash",
    "stamp_of",
]
