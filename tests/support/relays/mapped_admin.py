"""An admin with two instances that have read tables, and an active mapping set."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import time

import httpx

from api.middleware.request_body import documents_of
from relay.route import DBS, TAGS, TBS, TOPICS
from relay.state import DroppedName, InstanceStore, MappingStore, Note, Paths
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.relays.zookeeper_sessions import session_with
from tests.support.waiting import wait_until

GROUP = "/api/v1/configs/ROMA_GROUP"
DOCUMENTS: Mapping[str, list[dict[str, str]]] = {
    DBS: [
        {"logicDb": "shop", "realDbs": "shop_01,shop_02"},
        {"logicDb": "crm", "realDbs": "crm"},
    ],
    TBS: [{"logicTb": "client", "realTbs": "user"}, {"logicTb": "orders", "realTbs": "orders_01"}],
    TOPICS: [{"logicDb": "shop", "topic": "shop"}, {"logicDb": "crm", "topic": "crm"}],
    TAGS: [{"logicTb": "client,email", "tag": "client,contact"}],
}
_MET = {
    "shop-a": ["shop_01.user", "shop_01.orders_01", "shop_02.user", "shop_01.cart"],
    "crm": ["crm.lead"],
}

_NO_DATABASE = "no database mapping lists its database."


@contextmanager
def mapped_admin(hosts: str, installation: str, **more: object) -> Iterator[httpx.Client]:
    """Serve an admin whose set 1 has DOCUMENTS, saved by ann, and whose instances have read
    tables.
    """
    instances = [{"name": name, "source": {"host": "h", "user": "u"}} for name in _MET]
    settings = admin_settings(hosts, installation, **{"instances": instances, **more})
    with session_with(hosts) as session, admin_client(settings) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        notes = InstanceStore(session, Paths(f"/roma/{installation}"))
        for name, tables in _MET.items():
            notes.put_tables(name, tables)
        notes.put_dropped("crm", [DroppedName("metrics.sample", _NO_DATABASE, 7)])
        # The admin's first save reads Kafka; this one needs none.
        store = MappingStore(session, Paths(f"/roma/{installation}"))
        bodies = documents_of(json.dumps(DOCUMENTS).encode())
        store.save(store.current(), bodies, Note("ann", "first shards", int(time() * 1000)))
        yield client


def save(
    client: httpx.Client, documents: Mapping[str, object], *, comment: str, base: int = 0
) -> None:
    """Save all documents, from `base` if it is not the first save."""
    headers = {"X-Author": "ann", "X-Comment": comment}
    if base:
        headers["If-Match"] = f'"{base}"'
    saved = client.put(GROUP, content=json.dumps(documents), headers=headers)
    assert saved.status_code == 200, saved.text
