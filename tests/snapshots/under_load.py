"""One copy of two tables under load, with acts at random; then each key's last message is the
row.
"""

import random
from collections.abc import Collection
from dataclasses import dataclass, field
from time import monotonic

from deploy.embedded import Kafka, SqlServer
from tests.snapshots.acts import Acts
from tests.snapshots.commands import requests, roma, wait_for
from tests.snapshots.comparing import differences
from tests.snapshots.random_load import RandomLoad, make_tables
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.waiting import wait_until

_MARKER = 999_999
_SLOWLY = "sleep(0.003) = 0"
"""Rows are read slowly, so that many change between the snapshot and the high watermark."""
_DONE_SECONDS = 240


@dataclass(slots=True)
class Round:
    """What one copy met, and what is wrong afterwards."""

    faults: list[str] = field(default_factory=list)
    transactions: int = 0
    copied: int = 0
    wrong: list[str] = field(default_factory=list)


def one_round(
    installation: Installation,
    database: SqlServer,
    kafka: Kafka,
    seed: int,
    faults: int = 4,
    schema: str = "",
    *,
    replica: SqlServer | None = None,
    own_broker: bool = False,
    only: Collection[str] = (),
) -> Round:
    """Copy both tables of a schema while they change, with so many acts, and compare.

    `schema`: the real database; "" for one of the installation's name. `only`: these acts alone.
    """
    chance, found, schema = random.Random(seed), Round(), schema or installation.name
    make_tables(database, schema)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING", seconds=90)
        with RandomLoad(database, schema, seed) as load:
            asked = "start", f"{installation.name}.[ku]"
            number = roma(installation, *asked, "--where", _SLOWLY).split()[0]
            acts = Acts(
                installation, database, relay, kafka, schema, number, chance, replica, own_broker
            )
            known = {name: act for name, act in acts.by_name().items() if not only or name in only}
            for _ in range(faults):
                _pause(installation, number, chance.uniform(0.2, 2.0))
                name = chance.choice(sorted(known))
                found.faults.append(name)
                known[name]()
            ended = wait_for(installation, number, "DONE", _DONE_SECONDS)
            if acts.heal:
                again = roma(installation, *asked).split()[0]
                wait_for(installation, again, "DONE", _DONE_SECONDS)
            load.end()
            acts.end()
        found.transactions, found.copied = load.transactions, ended["rows"]
        _wait_for_marker(installation, database, kafka, schema)
    found.wrong = differences(installation, database, kafka, schema)
    return found


def _runs(installation: Installation, number: str) -> bool:
    [request] = [each for each in requests(installation) if each["id"] == number]
    return bool(request["state"] == "RUNNING")


def _pause(installation: Installation, number: str, seconds: float) -> None:
    """Let the copy go on for some time, or until its end."""
    ends_s = monotonic() + seconds
    wait_until(lambda: monotonic() > ends_s or not _runs(installation, number), "the next act")


def _wait_for_marker(
    installation: Installation, database: SqlServer, kafka: Kafka, schema: str
) -> None:
    database.execute(f"insert into {schema}.t (id) values ({_MARKER})")
    key = f'["{installation.name}.t","{_MARKER}"]'.encode()
    wait_until(
        lambda: any(
            each.key == key for each in read_topic(kafka.bootstrap, installation.name, seconds=60)
        ),
        "the relay has published everything",
        120,
    )
