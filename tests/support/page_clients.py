"""An admin whose pages a test requests over HTTP, and the two relays that the pages show."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from deploy.embedded import Kafka, ZooKeeper
from relay.state import Membership, Paths, RelayMember, RunnableInstance
from relay.zk import Session
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.waiting import wait_until


def announce_two_relays(session: Session, paths: Paths) -> None:
    """Announce the relays r1 and r2, which both can run `shop`; r1 leads it."""
    for number in (1, 2):
        member = RelayMember(
            f"r{number}",
            server=f"s{number}",
            instances=("shop",),
            candidacies=(RunnableInstance("shop"),),
        )
        Membership(session, paths).announce(member)
    session.create_ephemeral(paths.leader("shop"), b'{"relay": "r1"}')


@contextmanager
def page_client(
    zookeeper: ZooKeeper, kafka: Kafka, installation: str, **more: object
) -> Iterator[httpx.Client]:
    """Context manager: serve an admin, and yield a client that requests pages as a browser does."""
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


@contextmanager
def signed_in(url: str, name: str, password: str) -> Iterator[httpx.Client]:
    """Sign in with the form of the page, and keep the cookies as a browser does."""
    headers = {"Accept": "text/html"}
    with httpx.Client(base_url=url, headers=headers, trust_env=False, timeout=60) as browser:
        form = {"name": name, "password": password, "next": "/mappings/edit"}
        page = browser.get("/login")
        answer = browser.post("/login", data={**form, "csrf": csrf_of(page.text)})
        assert (answer.status_code, answer.headers.get("location")) == (303, "./mappings/edit")
        yield browser


def csrf_of(page: str) -> str:
    """Return the value that the first form of a page carries."""
    return page.split('name="csrf" value="')[1].split('"', maxsplit=1)[0]


def saves_a_document(browser: httpx.Client) -> None:
    """Save a topic with the session cookie, as the page's editor does. Raises AssertionError."""
    csrf = csrf_of(browser.get("/mappings/edit").text)
    present = browser.get("/api/v1/configs/ROMA_GROUP").headers["ETag"]
    saved = browser.put(
        "/api/v1/configs/ROMA_GROUP",
        json={
            "com.pajk.Roma.topics": [{"logicDb": "shop", "topic": "shop"}],
            "com.pajk.Roma.dbs": [{"logicDb": "shop", "realDbs": "shop_01,shop_02"}],
        },
        headers={"X-CSRF-Token": csrf, "If-Match": present},
    )
    assert saved.status_code == 200, saved.text
