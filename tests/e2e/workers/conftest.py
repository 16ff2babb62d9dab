"""What the tests of worker processes start from: four instances, two workers."""

import pytest

from deploy.embedded import Kafka, MariaDB
from tests.e2e.conftest import NewInstallation
from tests.support.relays.worker_relay import Shards

_NAMES = ("one", "two", "three", "four")


@pytest.fixture
def shards(mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation) -> Shards:
    """Four instances for a relay of two workers, with a log in JSON."""
    installation = new_installation(
        mariadb, kafka, placement={"processes": 2, "rebalance_seconds": 2}
    )
    installation.document["log"] = {"format": "json"}
    return Shards(installation, mariadb, kafka, _NAMES)
