"""Applies each change exactly once to a database: position and effect are in one transaction."""

from roma_client.inbox.dialect import Dialect
from roma_client.inbox.inbox import Inbox, Key

__all__ = ["Dialect", "Inbox", "Key"]
