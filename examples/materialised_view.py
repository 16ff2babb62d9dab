"""A materialised view in PostgreSQL: how many orders there are in each state, and their sum.

    python examples/materialised_view.py shop.orders GROUP 'host=db dbname=views'

Reads a logical table with the columns `v` (the state) and `n` (the amount), and keeps the table
`orders_by_state` exact: each change is applied once, also after kill -9. ROMA_ADMIN and ROMA_TOKEN
name the admin and a token with the role viewer. It ends with SIGTERM.
"""

import signal
import sys
from typing import Any, Final

import psycopg

from roma_client import Change, Subscription
from roma_client.inbox import Inbox

VIEW: Final = """
create table if not exists orders_by_state (
  state varchar(100) not null primary key, orders bigint not null, amount bigint not null)
"""
ADD: Final = """
insert into orders_by_state values (%s, %s, %s)
on conflict (state) do update set
  orders = orders_by_state.orders + excluded.orders,
  amount = orders_by_state.amount + excluded.amount
"""


def apply(cursor: Any, change: Change) -> None:
    """Take the row out of its former state, and add it to its new one."""
    for row, sign in ((change.before, -1), (change.after, 1)):
        if row is not None:
            cursor.execute(ADD, (row["v"], sign, sign * row["n"]))
    cursor.execute("delete from orders_by_state where orders = 0")


def run(table: str, group: str, database: str) -> None:
    """Keep the view up to date until SIGTERM."""
    connection = psycopg.connect(database)
    connection.execute(VIEW)
    connection.commit()
    inbox = Inbox(connection, group)
    logical_database, logical_table = table.split(".")
    with Subscription(
        logical_database, logical_table, group=group, session_timeout_seconds=6
    ) as changes:
        signal.signal(signal.SIGTERM, lambda *_: changes.stop())
        for change in changes:
            inbox.apply(change, apply)


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2], sys.argv[3])
