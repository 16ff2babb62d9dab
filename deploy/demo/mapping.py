"""The demo's four mapping documents: two physical shards are one logical database."""

from collections.abc import Mapping, Sequence
from typing import Final

import httpx

from deploy.demo.programs import TOKEN, TOPIC

SHARDS: Final = ("shop_01", "shop_02")
LOGICAL_DATABASE: Final = "shop"
LOGICAL_TABLES: Final[Mapping[str, Sequence[str]]] = {
    "customer": ("user_01", "user_02"),
    "orders": ("orders_01", "orders_02"),
}
_WRITE_S: Final = 20.0

DOCUMENTS: Final[Mapping[str, Sequence[Mapping[str, str]]]] = {
    "com.pajk.Roma.topics": [{"logicDb": LOGICAL_DATABASE, "topic": TOPIC}],
    "com.pajk.Roma.dbs": [{"logicDb": LOGICAL_DATABASE, "realDbs": ",".join(SHARDS)}],
    "com.pajk.Roma.tbs": [
        {"logicTb": logical, "realTbs": ",".join(real)} for logical, real in LOGICAL_TABLES.items()
    ],
    "com.pajk.Roma.tags": [
        {"logicTb": "customer", "tag": "customer"},
        {"logicTb": "orders,state", "tag": "orders,order-state"},
    ],
}


def save(admin_url: str) -> None:
    """Write the documents through the admin, one after the other, as an operator would.

    Raises httpx.HTTPError.
    """
    headers = {
        "Authorization": f"Bearer {TOKEN}",
        "X-Author": "demo",
        "X-Comment": "two shards, one shop",
    }
    with httpx.Client(
        base_url=admin_url, headers=headers, trust_env=False, timeout=_WRITE_S
    ) as client:
        for name, body in DOCUMENTS.items():
            client.put(f"/api/v1/configs/ROMA_GROUP/{name}", json=body).raise_for_status()
