"""Users, tokens and one's own account, as the pages and the interface change them."""

from api.services.accounts.desk import AccountDesk, AccountList

__all__ = ["AccountDesk", "AccountList"]
