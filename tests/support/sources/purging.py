"""Binlog files that a source throws away."""

from deploy.embedded import SqlServer
from tests.support.waiting import wait_until


def purged(server: SqlServer) -> bool:
    """Purge all binlog files but the newest.

    False while one stays, because somebody reads it, or a relay that has just gone did.
    """
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("show binary logs")
        newest = cursor.fetchall()[-1][0]
        cursor.execute(f"purge binary logs to '{newest}'")
        cursor.execute("show binary logs")
        return len(cursor.fetchall()) == 1


def purge(server: SqlServer) -> None:
    """Leave the newest file alone, also on a MariaDB that no replica reads."""
    if server.family == "mariadb":
        server.execute("set global slave_connections_needed_for_purge = 0")
    wait_until(lambda: purged(server), "the purge")
