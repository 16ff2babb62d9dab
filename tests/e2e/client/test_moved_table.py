"""A table that mapping edits give other topics, read by clients that follow it."""

import json
import time
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from deploy.embedded import Kafka, MariaDB
from relay.route import TOPICS
from relay.state import MappingStore, Note, Paths
from roma_client import Change, Changes, Subscription, beginning
from roma_client.errors import TableMoved
from tests.e2e.client.conftest import Shop, opened_shop
from tests.e2e.conftest import NewInstallation
from tests.support.waiting import wait_until

PARTITIONS = 2


@pytest.fixture
def shop(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation, tmp_path: Path
) -> Iterator[Shop]:
    with opened_shop(
        new_installation, mariadb, kafka, tmp_path, partition={"partitions_num": PARTITIONS}
    ) as shop:
        yield shop


def subscription(shop: Shop, **more: object) -> Subscription:
    return Subscription(**{**shop.arguments(), "refresh_seconds": 0.2, "idle_seconds": 60, **more})


def write(shop: Shop, *numbers: int) -> None:
    """Insert a row with each number, and set `n` of row 0 to it."""
    for n in numbers:
        shop.execute(
            f"insert into {{t}} (id, n) values ({n}, {n})",
            f"insert into {{t}} (id, n) values (0, {n}) on duplicate key update n = {n}",
        )


def move(shop: Shop, topic: str) -> None:
    shop.installation.map(topics=[{"logicDb": shop.name, "topic": topic}])


def move_and_wait(shop: Shop, topic: str) -> None:
    """Edit the mapping after all rows are published, and wait until the relay publishes under it.

    A row that is written before an edit and read after it belongs to the new topic.
    """
    shop.wait_until_published()
    shop.installation.map_and_wait(topics=[{"logicDb": shop.name, "topic": topic}])


def read(changes: Iterator[Change], count: int) -> list[tuple[str, int, int]]:
    """Topic, id and `n` of the next changes."""
    found = [next(changes) for _ in range(count)]
    return [(each.place.topic, each.row["id"], each.row["n"]) for each in found]


def test_a_table_is_followed_to_other_topics_and_back_with_nothing_lost_or_repeated(
    shop: Shop,
) -> None:
    first, second, third = shop.name, f"{shop.name}-second", f"{shop.name}-third"
    write(shop, 1)
    with subscription(shop) as changes:
        seen = read(changes, 2)
        move_and_wait(shop, second)
        write(shop, 2, 3)
        seen += read(changes, 4)
        move(shop, third)
        move_and_wait(shop, first)  # two edits in a row, the second one back
        write(shop, 4)
        seen += read(changes, 2)
    assert sorted(seen) == sorted(
        (topic, id_, n)
        for topic, n in ((first, 1), (second, 2), (second, 3), (first, 4))
        for id_ in (0, n)
    )
    assert [n for _, id_, n in seen if id_ == 0] == [1, 2, 3, 4], "each key has its order"


def test_a_group_that_was_away_reads_the_former_topics_to_their_ends_first(shop: Shop) -> None:
    first, second = shop.name, f"{shop.name}-second"
    write(shop, 1)
    with subscription(shop) as changes:
        seen = read(changes, 2)
        changes.ack()
    write(shop, 2)
    with subscription(shop, group=f"{shop.name}-other") as changes:
        read(changes, 4)  # the relay has published them
    shop.relay.kill()
    move(shop, second)  # while no relay runs: the next one marks the end when it starts
    shop.relay.start()
    shop.relay.wait_for("RUNNING")
    write(shop, 3)
    move_and_wait(shop, first)
    write(shop, 4)
    seen += read_by_two_clients(shop, 8, seen)
    assert sorted(seen) == sorted(
        (topic, id_, n)
        for topic, n in ((first, 1), (first, 2), (second, 3), (first, 4))
        for id_ in (0, n)
    )
    assert [n for _, id_, n in seen if id_ == 0] == [1, 2, 3, 4], "each key has its order"


def read_by_two_clients(
    shop: Shop, count: int, before: Collection[tuple[str, int, int]], *, exclusive: bool = False
) -> list[tuple[str, int, int]]:
    """The changes that two clients of the group get, until there are `count` with those before.

    Each once: what a client did not commit at its end comes again.

    Each client ends in its own thread: one that is not polled holds the group's rebalance up.
    """
    found: list[tuple[str, int, int]] = []
    clients: list[Changes] = []

    def follow() -> None:
        with subscription(shop, exclusive=exclusive) as changes:
            clients.append(changes)
            found.extend((each.place.topic, each.row["id"], each.row["n"]) for each in changes)

    with ThreadPoolExecutor(2) as threads:
        ends = [threads.submit(follow) for _ in range(2)]
        wait_until(
            lambda: len({*before, *found}) >= count or all(each.done() for each in ends),
            "both clients to read all topics",
        )
        for each in clients:
            each.stop()
        for end in ends:
            end.result()
    return list(dict.fromkeys(each for each in found if each not in before))


def test_a_table_that_left_and_came_back_without_markers_stops_a_client_by_name(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation, tmp_path: Path
) -> None:
    """Both edits are between two questions to the admin: each answer names the same topic."""
    silent = {"topic": {"move_markers": False}}
    with opened_shop(new_installation, mariadb, kafka, tmp_path, **silent) as shop:
        write(shop, 1)
        with subscription(shop) as changes:
            read(changes, 2)
        move_and_wait(shop, f"{shop.name}-second")
        write(shop, 2)
        move_and_wait(shop, shop.name)
        write(shop, 3)
        with (
            subscription(shop, move_seconds=0) as changes,
            pytest.raises(TableMoved, match=r"gave .* another topic"),
        ):
            read(changes, 9)
        shop.wait_until_published()
        again = subscription(shop, move_seconds=0, group=f"{shop.name}-new", idle_seconds=2)
        with again as changes:
            ids = {each.row["id"] for each in changes}
        assert ids == {0, 1, 3}, "a new group begins in the topic as it is"


def test_clients_of_a_new_group_begin_in_one_topic_while_an_edit_is_saved(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beginning, "SETTLE_SECONDS", 4)
    first, second = shop.name, f"{shop.name}-second"
    write(shop, 1)
    seen: list[tuple[str, int, int]] = []
    is_open, is_beyond = Event(), Event()
    with subscription(shop, idle_seconds=15) as early, ThreadPoolExecutor(2) as threads:
        move_now(shop, second)  # the first client was answered before, and has no partitions
        write(shop, 2)

        def follow() -> None:
            with subscription(shop, idle_seconds=15) as changes:
                is_open.set()
                for each in changes:
                    if each.place.topic == second:
                        is_beyond.set()
                    seen.append((each.place.topic, each.row["id"], each.row["n"]))

        later = threads.submit(follow)
        is_open.wait(2)  # it is not yet
        seen += read(early, 1)
        assert not is_beyond.wait(3), "the other client waits until the first topic is read"
        seen += [(each.place.topic, each.row["id"], each.row["n"]) for each in early]
        later.result()
    assert sorted(seen) == sorted(
        (topic, id_, n) for topic, n in ((first, 1), (second, 2)) for id_ in (0, n)
    )
    group = f"{shop.name}-late"
    monkeypatch.setattr(beginning, "FRESH_SECONDS", -1)
    with subscription(shop, group=group) as late:
        monkeypatch.setattr(beginning, "FRESH_SECONDS", 60)
        move_now(shop, f"{shop.name}-third")
        write(shop, 3)
        third = [(topic, n) for topic, _, n in read(late, 2)]
    assert third == [(f"{shop.name}-third", 3)] * 2, "its answer was too old: it asked again"


def move_now(shop: Shop, topic: str) -> None:
    """Edit the mapping, with the time of the edit, as the admin saves it."""
    paths = Paths.of(shop.installation.settings.zookeeper, shop.name)
    store = MappingStore(shop.installation.session, paths)
    current = store.current()
    bodies = {**current.bodies, TOPICS: json.dumps([{"logicDb": shop.name, "topic": topic}])}
    store.save(current, bodies, Note("ann", "moved", int(time.time() * 1000)))


def test_without_markers_a_client_stops_by_name(shop: Shop) -> None:
    write(shop, 1)
    with subscription(shop, idle_seconds=None, move_seconds=0.5) as changes:
        read(changes, 2)
        shop.relay.kill()
        move(shop, f"{shop.name}-second")
        with pytest.raises(TableMoved, match=r"lacks markers .*missing: all"):
            next(changes)
