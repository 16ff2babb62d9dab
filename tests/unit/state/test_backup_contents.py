"""A backup has no sign-ins, requests and orders, and a restore keeps agreements of topics."""

import json
from pathlib import Path

import pytest

from relay.errors import BackupRefused
from relay.state import Backup
from relay.state.backup_file import to_file


@pytest.mark.parametrize(
    "path",
    [
        "sessions/4f2a",
        "relays/r1",
        "leaders/shop/n-1",
        "erasure/owner",
        "instances/shop/status",
        "instances/shop/called",
        "instances/shop/snapshots",
        "instances/shop/snapshots/20261126-1",
        "instances/shop/snapshots/20261126-1/deeper",
        "instances/shop/failover/orders",
        "instances/shop/failover/orders/deeper",
        "instances/shop/failover/sources/second/orders",
        "instances/shop/failover/view",
    ],
)
def test_a_crafted_backup_is_refused_by_the_path(path: str, tmp_path: Path) -> None:
    (tmp_path / "crafted.json").write_text(to_file(path, b"{}"))
    manifest = {"format": 1, "installation": "prod", "made_ms": 1, "nodes": 1}
    (tmp_path / "backup.json").write_text(json.dumps(manifest))
    with pytest.raises(BackupRefused, match=f"'{path}'"):
        Backup.read(tmp_path)


def test_present_agreements_of_topics_stay_and_missing_ones_are_written() -> None:
    then = {
        "key-forms/orders/shop.orders": b"old",
        "topics/gone": b"old",
        "topics/orders": b"old",
        "topics/same": b"same",
        "topics-of-ours": b"old",
    }
    now = {
        "key-forms/orders/shop.orders": b"new",
        "topics/orders": b"new",
        "topics/same": b"same",
        "topics-of-ours": b"new",
    }
    changes = Backup("prod", 1, then).changes(now)
    assert changes.missing == ("topics/gone",)
    assert changes.differ == ("topics-of-ours",)
    assert changes.kept == ("key-forms/orders/shop.orders", "topics/orders")
    assert changes.to_write == ("topics/gone", "topics-of-ours")


def test_an_empty_zookeeper_gets_everything() -> None:
    nodes = {"topics/orders": b"old", "key-forms/orders/shop.orders": b"old"}
    changes = Backup("prod", 1, nodes).changes({})
    assert (set(changes.to_write), changes.kept) == (set(nodes), ())
