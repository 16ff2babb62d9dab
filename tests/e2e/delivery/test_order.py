"""The order pair against the raw rule (execute time, then offset), on changes that a session can
really make.
"""

from dataclasses import dataclass
from typing import Any

from deploy.embedded import Kafka, SqlServer
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import Seen, read_topic
from tests.support.waiting import wait_until


@dataclass(frozen=True)
class Winner:
    """What a consumer keeps for one key under a rule."""

    by_pair: str | None
    by_raw_time: str | None


def winner(seen: list[Seen], key: int) -> Winner:
    """Apply both rules to the changes of one key."""
    own = [
        each for each in seen if each.key is not None and each.key.endswith(f'"{key}"]'.encode())
    ]
    raw: Seen = max(own, key=lambda each: int((each.value or {})["es"]))
    return Winner(_n(max(own, key=lambda each: each.order)), _n(raw))


def _n(seen: Seen) -> str | None:
    value: dict[str, Any] = seen.value or {}
    return None if value["type"] == "DELETE" else value["data"][0]["n"]


def settled(installation: Installation, kafka: Kafka, messages: int) -> list[Seen]:
    wait_until(
        lambda: len(read_topic(kafka.bootstrap, installation.name)) >= messages,
        f"{messages} messages",
    )
    seen = read_topic(kafka.bootstrap, installation.name)
    assert len(seen) == messages
    return seen


def test_a_change_that_waited_for_a_lock_wins_although_it_started_earlier(
    database: SqlServer, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(database, kafka)
    name = installation.name
    with (
        RelayProcess(installation) as relay,
        database.connect(user="repl") as one,
        database.connect(user="repl") as two,
    ):
        relay.wait_for("RUNNING")
        with one.cursor() as a, two.cursor() as b:
            b.execute(f"insert into {name}.t values (1, 0, '')")
            two.commit()
            b.execute(
                "set timestamp = 1900000000"
            )  # B's clock is ahead, as if its statement had started later
            b.execute(f"update {name}.t set n = 1 where id = 1")
            two.commit()
            a.execute("set timestamp = 1800000000")
            a.execute(f"update {name}.t set n = 2 where id = 1")
            one.commit()
        assert winner(settled(installation, kafka, 3), 1) == Winner(by_pair="2", by_raw_time="1")


def test_changes_of_one_key_in_one_transaction_keep_their_order(
    database: SqlServer, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(database, kafka)
    name = installation.name
    with RelayProcess(installation) as relay, database.connect(user="repl") as connection:
        relay.wait_for("RUNNING")
        with connection.cursor() as cursor:
            cursor.execute("begin")
            cursor.execute(f"insert into {name}.t values (1, 0, '')")
            cursor.execute(f"update {name}.t set n = 1 where id = 1")
            cursor.execute(f"delete from {name}.t where id = 1")
            cursor.execute(f"insert into {name}.t values (2, 7, ''), (3, 8, '')")
            cursor.execute(f"update {name}.t set id = id + 1 where id > 1 order by id desc")
        connection.commit()
        seen = settled(installation, kafka, 9)
    assert winner(seen, 1).by_pair is None
    assert winner(seen, 2).by_pair is None
    assert winner(seen, 3).by_pair == "7"
    assert winner(seen, 4).by_pair == "8"
    assert len({each.order for each in seen}) == 9
