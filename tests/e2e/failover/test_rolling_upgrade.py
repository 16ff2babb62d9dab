"""A relay of the first landed version and one of this version take turns: an upgrade loses and
repeats nothing, and an older relay leaves a record of a newer format alone.
"""

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import orjson
import pytest

from deploy.embedded import Kafka, MariaDB
from tests.e2e.conftest import NewInstallation
from tests.e2e.delivery.test_giant_transaction import ROWS
from tests.support.relays.former_version import BEFORE_NAMED_SETS, former_version
from tests.support.relays.half_published import half_published
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.sources.counting_load import (
    CountingLoad,
    assert_exactly_once,
    binlog_end,
    published_end,
)
from tests.support.waiting import wait_until

_GOLDEN = Path(__file__).parents[2] / "golden" / "position_records"
# The name of the module is that of the landed version.
_READ = (
    "import sys\nfrom relay.model.position_record import "
    "PositionRecord\nPositionRecord.from_bytes(sys.stdin.buffer.read())"
)
_NEWEST_OF_LANDED = 4


def _logged(relay: RelayProcess, text: str) -> bool:
    return text in relay.log.read_text(errors="replace")


@pytest.mark.parametrize(
    "file", sorted(_GOLDEN.glob("position_record.*.json")), ids=lambda file: file.name
)
def test_the_landed_version_reads_a_record_or_says_that_it_is_newer(file: Path) -> None:
    value = file.read_bytes()
    told = subprocess.run(
        [sys.executable, "-c", _READ],
        cwd=former_version(),
        input=value,
        capture_output=True,
        check=False,
    )
    newer = orjson.loads(value)["format"] > _NEWEST_OF_LANDED
    assert (told.returncode != 0) is newer, told.stderr.decode()
    assert (b"PositionNewer" in told.stderr) is newer


@pytest.mark.parametrize(("number", "newer"), [(6, False), (9, False), (10, True)])
def test_a_version_that_misreads_the_last_key_of_a_copy_says_that_the_record_is_newer(
    number: int, newer: bool
) -> None:
    """It takes the name of a character set for bytes, and would end the request by a bug."""
    told = subprocess.run(
        [sys.executable, "-c", _READ.replace("relay.model.", "relay.model.records.")],
        cwd=former_version(BEFORE_NAMED_SETS),
        input=(_GOLDEN / f"position_record.{number}.json").read_bytes(),
        capture_output=True,
        check=False,
    )
    assert (told.returncode != 0) is newer, told.stderr.decode()
    assert (b"PositionNewer" in told.stderr) is newer


def test_an_upgrade_under_load_loses_and_repeats_nothing(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    newer = RelayProcess(installation, "newer")
    with RelayProcess(installation, "landed", folder=former_version()) as landed:
        landed.wait_for("RUNNING")
        with newer, CountingLoad(mariadb, name) as load:
            wait_until(lambda: _logged(newer, "state=STANDBY"), "the newer relay standing by")
            wait_until(lambda: published_end(installation) > ("", 0), "rows of the landed version")
            landed.kill()
            newer.wait_for("RUNNING")
            here = binlog_end(mariadb)
            wait_until(lambda: published_end(installation) >= here, "rows of this version")
            landed.start()
            newer.kill()
            wait_until(lambda: _logged(landed, "POSITION_NEWER"), "the landed relay standing by")
            newer.start()
            newer.wait_for("RUNNING")
            load.end()
            end = binlog_end(mariadb)
            wait_until(lambda: published_end(installation) >= end, f"the end of the binlog, {end}")
    assert_exactly_once(read_topic(kafka.bootstrap, name), load, mariadb, name)
    assert not _logged(landed, "POSITION_UNREADABLE")


@pytest.mark.long
def test_a_transaction_half_published_by_the_landed_version_is_ended_by_this_one(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka, transaction={"split_bytes": 1_000_000})
    name = installation.name
    with ExitStack() as stack:
        landed = stack.enter_context(RelayProcess(installation, "landed", folder=former_version()))
        landed.wait_for(
            "RUNNING"
        )  # the newer one would write records that the landed one does not read
        newer = stack.enter_context(RelayProcess(installation, "newer"))
        half_published(mariadb, kafka, landed, name, ROWS)
        newer.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (0, 0, 'last')")
        end = binlog_end(mariadb)
        wait_until(lambda: published_end(installation) >= end, "the end", 90)
        newer.kill()
        landed.start()
        wait_until(lambda: _logged(landed, "POSITION_NEWER"), "the landed relay standing by")
    seen = read_topic(kafka.bootstrap, name)
    assert sorted(int((each.value or {})["data"][0]["id"]) for each in seen) == list(
        range(ROWS + 1)
    )
