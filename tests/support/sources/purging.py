"""Purges binlog files of a source."""

from deploy.embedded import SqlServer
from tests.support.waiting import wait_until


def purged(server: SqlServer) -> bool:
    """Purge all binlog files but the newest. Return False while one stays, because a replica reads
    it, or a relay read it that has just ended.
    """
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("show binary logs")
        newest = cursor.fetchall()[-1][0]
        cursor.execute(f"purge binary logs to '{newest}'")
        cursor.execute("show binary logs")
        return len(cursor.fetchall()) == 1


def purge(server: SqlServer) -> None:
    """Purge all files but the newest, also of a MariaDB without replicas."""
    if server.family == "mariadb":
        server.execute("set global slave_connections_needed_for_purge = 0")
    wait_until(lambda: purged(server), "the purge")
