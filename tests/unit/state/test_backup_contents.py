"""A backup has no sign-ins, requests and orders, and a restore keeps what relays have noted."""

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


@pytest.mark.parametrize(
    "path",
    [
        "erasure/settings/orders",
        "instances/shop/dropped",
        "instances/shop/failover/history",
        "instances/shop/failover/sources/second/history",
        "instances/shop/started",
        "instances/shop/tables",
    ],
)
def test_a_present_fact_stays_and_a_lost_one_comes_back(path: str) -> None:
    backup = Backup("prod", 1, {path: b"old"})
    changes = backup.changes({path: b"new"})
    assert (changes.kept, changes.to_write) == ((path,), ())
    assert backup.changes({}).to_write == (path,)


@pytest.mark.parametrize(
    "path",
    [
        "accounts",
        "definitions/shop",
        "definitions/started",
        "hidden-tables",
        "instances/shop/flow",
        "instances/tables/flow",
        "placement",
    ],
)
def test_a_decision_of_operators_becomes_that_of_the_backup(path: str) -> None:
    changes = Backup("prod", 1, {path: b"old"}).changes({path: b"new"})
    assert (changes.kept, changes.differ) == ((), (path,))
