"""When the source is read into the spool, and when what is published comes out of it.

The disk is real, source and clock are values.
"""

import fcntl
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from relay.errors import BinlogPurged, GoesToSpool, RelayError, SourceUnreachable
from relay.model.change import Advance, RawItem, TransactionBegin, TransactionEnd
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import PositionRecord
from relay.pipeline.delivery.instance_stats import InstanceStats
from relay.pipeline.rollback_memory import RolledBack
from relay.pipeline.spooling import spool_controller, spool_writer
from relay.pipeline.spooling.spool_controller import SpoolController
from relay.settings import InstanceSettings
from relay.source import ExcludedRange
from relay.spool import Spool
from tests.support.waiting import wait_until

UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
IDENTITY = SourceIdentity(UUID, 1, 1_700_000_000)

PURGED = BinlogPurged("The position lies in binlog.000001.")


def at(offset: int) -> SourcePosition:
    return SourcePosition(BinlogPosition("binlog.000001", offset), "", IDENTITY)


def transaction(number: int) -> list[RawItem]:
    """The transaction between 100 * number and 100 * (number + 1)."""
    begin, end = (BinlogPosition("binlog.000001", 100 * each) for each in (number, number + 1))
    return [TransactionBegin(begin, "", None, 7), TransactionEnd(end, "", IDENTITY)]


class Source:
    """A source of transactions 1, 2, ….

    A stream yields those that are there, then waits for its end.
    """

    def __init__(self) -> None:
        self.transactions = 3
        self.error: RelayError | None = None
        self.opened_at: list[int] = []

    def open(self, start: SourcePosition) -> Any:
        if self.error is not None:
            raise self.error
        self.opened_at.append(start.binlog.offset)
        return Stream(self, start)


class Stream:
    """One connection to the source."""

    silent_seconds = 0.0

    def __init__(self, source: Source, start: SourcePosition) -> None:
        self.start = start
        self._source = source
        self._closed = threading.Event()

    def items(self, before_waiting: Callable[[], object] = lambda: None) -> Iterator[RawItem]:
        number = self.start.binlog.offset // 100
        while not self._closed.is_set():
            if self._source.error is not None:
                raise self._source.error
            if number <= self._source.transactions:
                yield from transaction(number)
                number += 1
            else:
                before_waiting()
                yield Advance(BinlogPosition("binlog.000001", 100 * number), IDENTITY)
                self._closed.wait(0.001)

    def close(self) -> None:
        self._closed.set()


class Bench:
    """The spool of an instance that has published up to `published`, which is an offset."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, folder: Path, mode: str = "mixed", **settings: Any
    ) -> None:
        self.now_s = 1000.0
        self.source = Source()
        self.stats = InstanceStats()
        monkeypatch.setattr(spool_controller, "monotonic", lambda: self.now_s)
        self.rolled_back = RolledBack()
        self.left_out: list[set[ExcludedRange]] = []

        def opened(
            _: Any, __: Any, ___: Any, start: SourcePosition, left_out: set[ExcludedRange]
        ) -> Any:
            self.left_out.append(left_out)
            return self.source.open(start)

        monkeypatch.setattr(spool_controller, "open_for", opened)
        monkeypatch.setattr(spool_writer, "_FIRST_PAUSE_SECONDS", 0.001)
        spooling = {"directory": folder, "after_seconds": 5, **settings}
        fields = {
            "name": "shop",
            "source": {"host": "one", "user": "u"},
            "spool": mode,
            "spooling": spooling,
        }
        self.instance = InstanceSettings.model_validate(fields)
        self.leads = True
        self.controller = SpoolController(
            "roma", self.instance, self.stats, self.rolled_back, lambda: self.leads
        )

    def publish(self, offset: int) -> SourcePosition:
        self.stats.record = PositionRecord(at(offset), OrderPair(0, 0), 0, 0)
        return at(offset)

    def opens(self, start: SourcePosition) -> bool:
        """Whether the spool has a part in what follows; the stream is closed again."""
        stream = self.controller.stream(self.instance.source, start)
        if stream is not None:
            stream.close()
            list(stream.items())
        return stream is not None

    def taken(self, start: int, transactions: int) -> list[int]:
        """So many transactions as they come out of the spool from an offset on, by their
        numbers.
        """
        stream = self.controller.stream(self.instance.source, at(start))
        assert stream is not None
        items, found = stream.items(), list[int]()
        while len(found) < transactions:
            item = next(items)
            if isinstance(item, TransactionBegin):
                found.append(item.position.offset // 100)
        stream.close()
        list(items)
        return found


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Bench]:
    """An instance that this relay leads, and that has published nothing behind offset 100."""
    bench = Bench(monkeypatch, tmp_path)
    bench.publish(100)
    with bench.controller.leading():
        yield bench


def test_in_memory_mode_nothing_is_spooled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bench = Bench(monkeypatch, tmp_path, mode="memory")
    bench.publish(100)
    with bench.controller.leading(), bench.controller.spool_if_slow():
        bench.controller.begin()
        assert not bench.controller.enabled
        assert not bench.controller.overdue(1000.0)
        assert not bench.opens(at(100))
    assert (bench.source.opened_at, list(tmp_path.iterdir())) == ([], [])


def test_what_is_spooled_comes_out_and_the_same_connection_goes_on(bench: Bench) -> None:
    bench.controller.begin()
    bench.controller.begin()
    assert bench.taken(100, 3) == [1, 2, 3]
    assert bench.source.opened_at == [100]


def test_the_stream_that_is_taken_over_leaves_out_what_the_instance_knows(bench: Bench) -> None:
    known = ("binlog.000001", 400, 1, 2)
    bench.rolled_back.leave_out([known])
    bench.controller.begin()
    assert bench.taken(100, 3) == [1, 2, 3]
    assert bench.left_out == [{known}]


def test_after_the_disk_the_stream_is_live(bench: Bench) -> None:
    bench.controller.begin()
    stream = bench.controller.stream(bench.instance.source, at(100))
    assert stream is not None
    assert bench.controller.view.state == "draining"
    for item in stream.items():
        if not stream.from_disk and bench.source.transactions == 3:
            bench.source.transactions = 4
        if isinstance(item, TransactionBegin) and item.position.offset == 400:
            stream.close()
    assert bench.source.opened_at == [100]
    assert bench.controller.view.state == ""


def test_a_start_in_the_middle_takes_what_follows(bench: Bench) -> None:
    bench.controller.begin()
    wait_until(
        lambda: bench.controller.view.size_bytes > 0 and bench.source.opened_at == [100],
        "the spool to fill",
    )
    assert bench.taken(100, 3) == [1, 2, 3]
    bench.controller.rest()
    assert bench.taken(200, 2) == [2, 3]


def test_a_position_that_the_spool_does_not_hold_throws_it_away(bench: Bench) -> None:
    bench.controller.begin()
    assert bench.taken(100, 3) == [1, 2, 3]
    assert not bench.opens(at(50))
    assert bench.controller.view.size_bytes == 0
    bench.publish(50)
    bench.controller.begin()
    wait_until(lambda: bench.source.opened_at[-1] == 50, "the source to be read from the position")


def test_a_spool_that_is_published_is_left_for_the_source(bench: Bench) -> None:
    bench.controller.begin()
    assert bench.taken(100, 3) == [1, 2, 3]
    bench.controller.rest()
    assert not bench.opens(bench.publish(1000))


def test_a_relay_that_starts_again_takes_the_spool_over_and_reads_on_from_its_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = Bench(monkeypatch, tmp_path)
    first.publish(100)
    with first.controller.leading():
        first.controller.begin()
        assert first.taken(100, 3) == [1, 2, 3]
    second = Bench(monkeypatch, tmp_path)
    second.publish(200)
    with second.controller.leading():
        assert second.taken(200, 2) == [2, 3]
        wait_until(lambda: second.source.opened_at != [], "the source to be read on")
    assert second.source.opened_at == [400]


def test_while_nothing_waits_on_disk_a_source_that_is_away_is_told(bench: Bench) -> None:
    bench.controller.begin()
    assert bench.taken(100, 3) == [1, 2, 3]
    bench.controller.begin()
    bench.source.error = SourceUnreachable("gone")
    start = bench.publish(400)

    def told() -> bool:
        try:
            bench.controller.begin()
            bench.opens(start)
        except SourceUnreachable:
            return True
        return False

    wait_until(told, "the error of the source")


@pytest.mark.parametrize(("waited_s", "overdue"), [(4.9, False), (5.0, True)])
def test_it_is_time_for_the_spool_after_the_seconds_of_the_settings(
    bench: Bench, waited_s: float, overdue: bool
) -> None:
    assert bench.controller.overdue(waited_s) is overdue
    if not overdue:
        bench.controller.poll(waited_s)
        return
    with pytest.raises(GoesToSpool):
        bench.controller.poll(waited_s)


def test_what_comes_from_disk_is_never_overdue(bench: Bench) -> None:
    bench.controller.begin()
    stream = bench.controller.stream(bench.instance.source, at(100))
    assert stream is not None
    assert not bench.controller.overdue(1000.0)
    stream.close()
    list(stream.items())
    assert bench.controller.overdue(1000.0)


def test_a_slow_kafka_begins_the_spool_and_a_fast_one_does_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bench = Bench(monkeypatch, tmp_path, after_seconds=0.01)
    bench.publish(100)
    with bench.controller.leading(), bench.controller.spool_if_slow():
        wait_until(lambda: bench.source.opened_at == [100], "the spool to begin")
    bench = Bench(monkeypatch, tmp_path)
    bench.publish(100)
    with bench.controller.leading():
        with bench.controller.spool_if_slow():
            pass
        assert bench.source.opened_at == []


def test_the_next_leader_takes_the_files_of_one_that_is_paused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    one, other = Bench(monkeypatch, tmp_path), Bench(monkeypatch, tmp_path)
    one.publish(100)
    other.publish(100)
    with one.controller.leading():
        one.controller.begin()
        assert one.taken(100, 3) == [1, 2, 3]
        other.source.error = SourceUnreachable("gone")  # the rows are on disk only
        with other.controller.leading():
            assert not other.controller.view.problem
            assert other.taken(100, 3) == [1, 2, 3]
            one.controller.begin()
            other.now_s += 10.0
            one.controller.poll(0.0)
            assert other.taken(100, 3) == [1, 2, 3]
        one.controller.rest()
        one.publish(200)
        other.now_s += 10.0
        one.controller.poll(0.0)
        assert "SPOOL_UNUSABLE" in one.controller.view.problem


@pytest.mark.parametrize("paused_since", ["its election", "a spool that it could not open"])
def test_a_paused_relay_without_a_spool_leaves_the_next_leader_s_files_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, paused_since: str
) -> None:
    paused, leader = Bench(monkeypatch, tmp_path), Bench(monkeypatch, tmp_path)
    leader.publish(100)
    with ExitStack() as stack:
        if paused_since == "its election":
            stack.enter_context(leader.controller.leading())
            paused.leads = False
            stack.enter_context(paused.controller.leading())
        else:
            with monkeypatch.context() as patched:
                patched.setattr("relay.spool.owned_folder._RENAME_SECONDS", 0.0)
                lock = of_an_earlier_release(tmp_path)
                stack.enter_context(paused.controller.leading())
                lock.close()
            stack.enter_context(leader.controller.leading())
            paused.leads = False
        leader.controller.begin()
        assert leader.taken(100, 3) == [1, 2, 3]
        paused.now_s += 60.0
        leader.now_s += 60.0
        paused.controller.poll(0.0)
        assert "does not confirm" in paused.controller.view.problem
        leader.source.error = SourceUnreachable("gone")  # the rows are on disk only
        assert leader.taken(100, 3) == [1, 2, 3]
        assert "SPOOL_UNUSABLE" not in leader.controller.view.problem


def of_an_earlier_release(folder: Path) -> BinaryIO:
    """The lock that a relay of an earlier release holds as long as it leads."""
    (folder / "roma" / "shop").mkdir(parents=True)
    lock = (folder / "roma" / "shop" / "lock").open("wb")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def test_a_folder_that_an_earlier_release_has_is_a_problem_but_no_stop(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("relay.spool.owned_folder._RENAME_SECONDS", 0.05)
    other = Bench(monkeypatch, tmp_path)
    other.publish(100)
    with of_an_earlier_release(tmp_path), other.controller.leading():
        other.controller.begin()
        assert not other.opens(at(100))
        assert "SPOOL_UNUSABLE" in other.controller.view.problem
    assert other.source.opened_at == []


def test_a_folder_that_could_not_be_opened_is_opened_a_minute_later(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("relay.spool.owned_folder._RENAME_SECONDS", 0.05)
    bench = Bench(monkeypatch, tmp_path)
    bench.publish(100)
    lock = of_an_earlier_release(tmp_path)
    with bench.controller.leading():
        lock.close()
        bench.controller.poll(0.0)
        assert "SPOOL_UNUSABLE" in bench.controller.view.problem
        bench.controller.begin()
        assert bench.source.opened_at == []
        bench.now_s += 60.0
        bench.controller.poll(0.0)
        assert not bench.controller.view.problem
        bench.controller.begin()
        wait_until(lambda: bench.source.opened_at == [100], "the spool to begin")


def test_a_disk_that_refused_is_left_alone_for_a_minute(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("relay.spool.owned_folder._RENAME_SECONDS", 0.05)
    other = Bench(monkeypatch, tmp_path)
    other.publish(100)
    with of_an_earlier_release(tmp_path), other.controller.leading():
        pass
    with other.controller.leading():
        other.controller.begin()
        assert not other.controller.overdue(1000.0)
        assert other.source.opened_at == []
        other.now_s += 60.0
        assert other.controller.overdue(1000.0)
        other.controller.begin()
        wait_until(lambda: other.source.opened_at == [100], "the spool to begin")


def test_a_cut_spool_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "roma" / "shop"
    folder.mkdir(parents=True)
    spool = Spool(folder, 100_000_000)
    spool.begin(at(4))
    spool.close()
    spooling = Bench(monkeypatch, tmp_path).controller
    with spooling.leading():
        assert spooling.explained(PURGED) is PURGED
    with max(folder.rglob("*.spool")).open("ab") as file:
        file.write(b"torn")
    spooling = Bench(monkeypatch, tmp_path).controller
    with spooling.leading():
        error = spooling.explained(PURGED)
    assert error.reason.startswith(PURGED.reason)
    assert "its last 4 bytes were damaged" in error.reason
    assert error.way_out == PURGED.way_out
