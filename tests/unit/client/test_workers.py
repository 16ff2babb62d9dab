"""What workers do with changes that wait in their queues when membership is lost or unproven."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from unittest.mock import Mock

import pytest

from roma_client.changes import Changes
from roma_client.handling import Handling, Retry, WorkerPool
from roma_client.kafka.feed import Feed
from roma_client.metrics import NoMetrics
from roma_client.names.watcher import NameWatcher
from roma_client.records.change import Change
from tests.support.clients.fake_consumer import (
    SESSION,
    TIMED_OUT,
    FakeClock,
    FakeConsumer,
    FakeMessage,
    opened_feed,
)
from tests.support.clients.made_records import row_record
from tests.support.waiting import wait_until


class Service:
    """One worker whose handler waits for `may_go`, and the offsets that it processed."""

    def __init__(self, feed: Feed) -> None:
        self.may_go = Event()
        self.seen: list[int] = []
        self.begun = Event()
        self.changes = Changes(feed, NoMetrics(), Mock(spec=NameWatcher))
        handling = Handling(self._handle, Retry(), None, NoMetrics(), self.changes.wait)
        self.pool = WorkerPool(self.changes, feed, handling, 1)

    def _handle(self, change: Change) -> None:
        self.begun.set()
        self.may_go.wait()
        self.seen.append(change.place.offset)

    def run_while(self, act: Callable[[], None]) -> None:
        """Run the pool in this thread until `act` has returned in another one. Raises its error."""

        def acting() -> None:
            try:
                act()
            finally:
                self.may_go.set()
                self.changes.stop()

        with ThreadPoolExecutor(1) as threads:
            acted = threads.submit(acting)
            self.pool.run()
            acted.result()


def rows(*offsets: int, partition: int = 0) -> list[FakeMessage]:
    """Changes of one key, which one worker processes in turn."""
    made = [row_record([{"id": "1"}], order=(1000, each), offset=each) for each in offsets]
    return [FakeMessage(each._replace(partition=partition)) for each in made]


def test_changes_of_a_lost_partition_are_not_processed_any_more(consumer: FakeConsumer) -> None:
    feed = opened_feed()
    service = Service(feed)
    lost = Event()

    def lose() -> list[FakeMessage]:
        feed.revoked([("shop", 0)], lost=True)
        lost.set()
        return []

    def act() -> None:
        service.begun.wait()
        consumer.answers.append(lose)
        lost.wait()
        service.may_go.set()
        wait_until(lambda: 7 in service.seen, "the change of the other partition")

    consumer.gives(*rows(0, 1, 2), *rows(7, partition=1))
    service.run_while(act)
    assert service.seen == [0, 7]


def test_changes_in_queues_wait_while_the_broker_is_away_and_are_processed_afterwards(
    consumer: FakeConsumer, clock: FakeClock
) -> None:
    service = Service(opened_feed())
    commits: list[float] = []

    def passed(holds: Callable[[], bool]) -> Callable[[], bool]:
        def later() -> bool:
            clock.now += 1
            return holds()

        return later

    def act() -> None:
        service.begun.wait()
        wait_until(lambda: consumer.asked > 1, "all changes to be queued")
        consumer.refusal = TIMED_OUT
        clock.now += SESSION
        service.may_go.set()
        wait_until(lambda: service.seen == [0], "the change that was begun")
        commits.clear()
        wait_until(passed(lambda: len(commits) > 3), "the client to ask for a proof")
        assert service.seen == [0]
        consumer.refusal = None
        wait_until(passed(lambda: service.seen == [0, 1, 2]), "the changes that waited")
        done = {("shop", 0): 3, ("shop", 1): 0}
        wait_until(passed(lambda: consumer.committed == done), "their acknowledgements")

    consumer.on_commit = lambda: commits.append(clock.now)
    consumer.gives(*rows(0, 1, 2))
    service.run_while(act)


def test_no_worker_begins_a_change_after_another_one_has_failed_for_good(
    consumer: FakeConsumer,
) -> None:
    feed = opened_feed()
    changes = Changes(feed, NoMetrics(), Mock(spec=NameWatcher))
    seen: list[int] = []

    def handler(change: Change) -> None:
        seen.append(change.place.offset)
        if change.place.offset == 0:
            wait_until(lambda: consumer.asked > 1, "the next changes to be queued")
            raise OSError("poison")

    handling = Handling(handler, Retry(1), None, NoMetrics(), changes.wait)
    consumer.gives(*rows(0, 1, 2))
    with pytest.raises(OSError, match="poison"):
        WorkerPool(changes, feed, handling, 2).run()
    assert seen == [0], "changes 1 and 2 are of the same key"
    assert consumer.committed["shop", 0] == 0
