"""Two transactional ids by turns: a relay that is killed, and a setting that is changed meanwhile,
lose and repeat nothing.
"""

import tomli_w

from deploy.embedded import Kafka, MariaDB
from relay.position import KafkaPositionStore
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.sources.counting_load import (
    CountingLoad,
    assert_exactly_once,
    binlog_end,
    published_end,
)
from tests.support.waiting import wait_until


def _publish_everything(installation: Installation, mariadb: MariaDB) -> None:
    end = binlog_end(mariadb)
    wait_until(lambda: published_end(installation) >= end, f"the end of the binlog, {end}")


def _second_id(installation: Installation) -> bool:
    store = KafkaPositionStore(installation.settings.kafka, installation.name, "shop")
    record = store.read()
    assert record is not None
    return record.second_id


def test_killed_relays_with_one_id_and_with_two_lose_and_repeat_nothing(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka, transaction={"producers": 2})
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        with CountingLoad(mariadb, name) as load:
            for producers in (1, 2, 1):
                _publish_everything(installation, mariadb)
                assert _second_id(installation) is (producers == 1)
                relay.kill()
                installation.document["instances"][0]["transaction"] = {"producers": producers}
                installation.file.write_text(tomli_w.dumps(installation.document), encoding="utf-8")
                relay.start()
            _publish_everything(installation, mariadb)
        _publish_everything(installation, mariadb)
    assert not _second_id(installation)
    assert_exactly_once(read_topic(kafka.bootstrap, name), load, mariadb, name)
