"""Changes users, tokens and the caller's own account."""

from api.services.accounts.desk import AccountDesk, AccountList

__all__ = ["AccountDesk", "AccountList"]
