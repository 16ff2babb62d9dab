"""An admin whose pages are asked for over HTTP, and the two relays that they show."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from deploy.embedded import Kafka, ZooKeeper
from relay.state import Candidacy, Membership, Paths, RelayMember
from relay.zk import Session
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.waiting import wait_until


def announce_two_relays(session: Session, paths: Paths) -> None:
    """Let r1 and r2 live, which both can run `shop`; r1 leads it."""
    for number in (1, 2):
        member = RelayMember(
            f"r{number}",
            server=f"s{number}",
            instances=("shop",),
            candidacies=(Candidacy("shop"),),
        )
        Membership(session, paths).announce(member)
    session.create_ephemeral(paths.leader("shop"), b'{"relay": "r1"}')


@contextmanager
def page_client(
    zookeeper: ZooKeeper, kafka: Kafka, installation: str, **more: object
) -> Iterator[httpx.Client]:
    """Serve an admin, and ask for pages as a browser does."""
    brokers = {
        "bootstrap_servers": kafka.bootstrap,
        "replication_factor": 1,
        "min_insync_replicas": 1,
    }
    settings = admin_settings(zookeeper.hosts, installation, kafka=brokers, **more)
    with admin_client(settings) as client:
        client.headers.update({"Accept": "text/html"})
        wait_until(lambda: client.get("/").status_code == 200, "the admin to show pages")
        yield client
