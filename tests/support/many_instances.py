"""An admin of many instances, of which one is stopped."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from relay.state import InstanceStatus, InstanceStore, Membership, Paths, RelayMember
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.relays.zookeeper_sessions import session_with
from tests.support.waiting import wait_until


@contextmanager
def admin_with_many(hosts: str, installation: str, count: int) -> Iterator[httpx.Client]:
    """Serve an admin of instances `many-0000` (stopped), `many-0001` and so on, on server s1."""
    paths = Paths(f"/roma/{installation}")
    names = tuple(f"many-{number:04}" for number in range(count))
    with session_with(hosts) as session:
        Membership(session, paths).announce(RelayMember("r1", "host", 7, "", names, 5, "s1", 4000))
        store = InstanceStore(session, paths)
        for name in names[1:]:
            store.put_status(InstanceStatus(name, "RUNNING", relay="r1", lag_seconds=0.2))
        store.put_status(
            InstanceStatus(names[0], "STOPPED", "BINLOG_PURGED", "it is gone.", "Do.", "r1")
        )
        with admin_client(admin_settings(hosts, installation)) as client:
            wait_until(lambda: client.get("/").status_code == 200, "the admin to show the page")
            yield client
