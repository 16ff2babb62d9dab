"""A client that subscribes to row changes by logical database and table.

with Subscription("shop", "orders", tags=["paid"], admin="http://admin:8080") as changes:
    for change in changes:
        print(change.operation, change.after)
"""

from roma_client.changes import Changes
from roma_client.errors import ClientError
from roma_client.handling import Retry
from roma_client.records.change import Change, Operation, Order, Place, SourcePosition
from roma_client.records.transaction import Transaction
from roma_client.subscription import Subscription
from roma_client.transaction_subscription import TransactionSubscription
from roma_client.transactions import Transactions

__all__ = [
    "Change",
    "Changes",
    "ClientError",
    "Operation",
    "Order",
    "Place",
    "Retry",
    "SourcePosition",
    "Subscription",
    "Transaction",
    "TransactionSubscription",
    "Transactions",
]
