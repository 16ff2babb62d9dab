"""The workloads are what they are said to be."""

import pytest

from tools.bench.measuring.orders import Orders
from tools.bench.peers.distribution import debezium_artifact
from tools.bench.wide import Wide


def test_the_common_workload_has_its_known_size() -> None:
    orders = Orders(400_000, 50_000)
    assert orders.bulk_changes == 880_000
    assert orders.changes - orders.bulk_changes == 162_500


def test_sizes_that_would_not_come_out_even_are_refused() -> None:
    with pytest.raises(ValueError, match="multiple of 5000"):
        Orders(1000, 4)
    with pytest.raises(ValueError, match="transactions of 4"):
        Orders(5000, 3)
    with pytest.raises(ValueError, match="multiple of 400"):
        Wide(100)


def test_the_peer_is_pinned_as_an_archive() -> None:
    artifact = debezium_artifact()
    assert artifact.extension == "tar.gz"
    assert artifact.file == f"debezium-server-dist-{artifact.version}.tar.gz"
