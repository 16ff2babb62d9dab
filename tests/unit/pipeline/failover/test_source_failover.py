"""Which server of one source is read, and when a stream is interrupted for another one.

Servers and ZooKeeper are values.
"""

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from relay.errors import (
    RelayError,
    StandbyBehind,
    StandbyDiverged,
    StandbyPurged,
    StoreUnreachable,
    SwitchingSource,
    SwitchNeedsGtid,
)
from relay.model.failover import ServerRole, ServerSeen
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import PositionRecord, Replay, SplitProgress
from relay.pipeline.failover import source_failover, source_switch
from relay.pipeline.failover.source_failover import SourceFailover
from relay.pipeline.failover.source_switch import switched_record
from relay.settings import InstanceSettings
from relay.source import ProvenPosition
from relay.state import FailoverView, StandingOrders, SwitchNote
from tests.support.waiting import wait_until

HERE = SourcePosition(BinlogPosition("b.000007", 400), "0-1-7", SourceIdentity("", 1, 10))
THERE = SourcePosition(BinlogPosition("b.000001", 4), "0-1-7", SourceIdentity("", 2, 20))
RECORD = PositionRecord(HERE, OrderPair(5, 6), 3, 0)
MASTER = ServerSeen(
    ServerRole.MASTER,
    "one:3306",
    True,
    seen_ms=1,
    server_id=1,
    mariadb=True,
    gtids=True,
    executed="0-1-7",
)
STANDBY = replace(MASTER, role=ServerRole.STANDBY, place="two:3306", server_id=2)
DEAD = replace(MASTER, answers=False, failures=99, error="gone")


class FakeServers:
    """The heartbeats to both servers; `seen` is what the next one finds."""

    errant = ""

    def __init__(self, settings: dict[ServerRole, Any]) -> None:
        self.settings = settings
        self.seen = (MASTER, STANDBY)
        self.looks = 0
        self.closed = threading.Event()

    def poll(self) -> tuple[ServerSeen, ...]:
        self.looks += 1
        return self.seen

    def compare(self, *_: object) -> None: ...
    def close(self) -> None:
        self.closed.set()


class FakeStore:
    """The failover documents of one instance in ZooKeeper; `away`: it does not answer."""

    def __init__(self) -> None:
        self.standing = StandingOrders()
        self.views: list[FailoverView] = []
        self.switches: list[SwitchNote] = []
        self.away = False
        self.wake = threading.Event()

    def orders(self, _: str) -> StandingOrders:
        self._answer()
        return self.standing

    def view(self, _: str) -> FailoverView | None:
        self._answer()
        return self.views[-1] if self.views else None

    def put_view(self, _: str, view: FailoverView) -> None:
        self._answer()
        self.views.append(view)

    def change_orders(self, _: str, change: Any) -> StandingOrders:
        self._answer()
        self.standing = change(self.standing)
        return self.standing

    def note_switch(self, _: str, note: SwitchNote) -> None:
        self._answer()
        self.switches.append(note)

    def watch_orders(self, _: str, changed: threading.Event) -> Any:
        self.wake = changed
        return self

    def cancel(self) -> None: ...

    def _answer(self) -> None:
        if self.away:
            raise StoreUnreachable("away")


class Bench:
    """The failover of one source with a standby.

    `proof` is what the standby proves, or why it does not.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **failover: Any) -> None:
        fields = {
            "name": "shop",
            "source": {"host": "one", "user": "u", "standby": {"host": "two"}},
        }
        rules = {
            "detecting_enable": False,
            "heartbeat_ha_enable": True,
            "retry_threshold": 3,
            **failover,
        }
        settings = InstanceSettings.model_validate({**fields, "failover": rules})
        standby = settings.source.at_standby()
        assert standby is not None
        self.proof: ProvenPosition | RelayError = ProvenPosition(THERE)
        self.asked: list[str] = []
        self.servers = FakeServers(
            {ServerRole.MASTER: settings.source, ServerRole.STANDBY: standby}
        )
        self.store = FakeStore()
        self.committed: PositionRecord | None = RECORD
        monkeypatch.setattr(source_failover, "ServerWatches", lambda *_: self.servers)
        monkeypatch.setattr(source_switch, "proven_position", self._proven)
        monkeypatch.setattr(source_switch, "boundary_before", lambda *_: THERE)
        store: Any = self.store
        self.failover = SourceFailover(settings, settings.source, store, lambda: self.committed)

    def beat(self) -> None:
        """Have a heartbeat made now, by the thread; return when it was."""
        before = len(self.store.views)
        order(self)
        self.store.wake.set()
        wait_until(lambda: len(self.store.views) > before, "a heartbeat")

    def interrupted(self) -> str:
        try:
            self.failover.check()
        except SwitchingSource as exc:
            return exc.reason
        return ""

    def _proven(self, settings: Any, *_: object) -> ProvenPosition:
        self.asked.append(settings.host)
        if isinstance(self.proof, RelayError):
            raise self.proof
        return self.proof


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(monkeypatch)


@pytest.fixture
def streaming(bench: Bench) -> Iterator[Bench]:
    """Rows flow, and the first heartbeat is over."""
    with bench.failover.watching(), bench.failover.streaming():
        wait_until(lambda: bool(bench.store.views), "the first heartbeat")
        yield bench
    wait_until(bench.servers.closed.is_set, "the thread to end")


def order(bench: Bench, **orders: Any) -> None:
    bench.store.standing = replace(
        bench.store.standing, number=bench.store.standing.number + 1, **orders
    )


def test_a_healthy_master_is_read_on(bench: Bench) -> None:
    chosen = bench.failover.choose(RECORD)
    assert (chosen.server.host, chosen.record, chosen.switches) == ("one", RECORD, ())
    assert bench.failover.serves


def test_without_a_record_the_settings_decide(bench: Bench) -> None:
    assert bench.failover.choose(None).server.host == "one"
    assert bench.store.views == []


def test_a_dead_master_is_left_for_a_standby_that_proves_itself_under_a_new_epoch(
    bench: Bench,
) -> None:
    bench.servers.seen = (DEAD, STANDBY)
    chosen = bench.failover.choose(RECORD)
    assert chosen.server.host == "two"
    assert chosen.record == replace(RECORD, source=THERE, epoch=4)
    note = chosen.switches[0]
    assert (note.to, note.place, note.epoch, note.asked_by) == ("standby", "two:3306", 4, "")


@pytest.mark.parametrize("refusal", [StandbyBehind("x"), StandbyPurged("x"), StandbyDiverged("x")])
def test_a_standby_that_proves_nothing_is_not_read(bench: Bench, refusal: RelayError) -> None:
    bench.servers.seen, bench.proof = (DEAD, STANDBY), refusal
    with pytest.raises(type(refusal)):
        bench.failover.choose(RECORD)


def test_a_standby_that_lacks_published_transactions_is_waited_for(bench: Bench) -> None:
    bench.servers.seen = (DEAD, replace(STANDBY, executed="0-1-6"))
    with pytest.raises(StandbyBehind):
        bench.failover.choose(RECORD)
    assert bench.asked == []


@pytest.mark.parametrize(("way", "host"), [("stop", ""), ("fallback", "two")])
def test_without_gtids_the_setting_decides(
    monkeypatch: pytest.MonkeyPatch, way: str, host: str
) -> None:
    bench = Bench(monkeypatch, switch_without_gtid=way)
    record = replace(RECORD, source=replace(HERE, gtid_set=""))
    bench.servers.seen, bench.proof = (DEAD, STANDBY), SwitchNeedsGtid("x")
    if not host:
        with pytest.raises(SwitchNeedsGtid):
            bench.failover.choose(record)
        return
    assert bench.failover.choose(record).server.host == host
    half = replace(record, split=SplitProgress(HERE.binlog, "", 3, 1, 1, ""))
    with pytest.raises(SwitchNeedsGtid):
        bench.failover.choose(half)


def test_a_committed_switch_is_noted_and_its_order_is_done(bench: Bench) -> None:
    order(bench, switch_to=ServerRole.STANDBY, by="ann")
    chosen = bench.failover.choose(RECORD)
    assert (chosen.server.host, chosen.switches[0].asked_by) == ("two", "ann")
    bench.failover.switched(chosen.switches[0])
    assert bench.store.switches == list(chosen.switches)
    assert bench.store.standing.switch_to is None
    assert bench.failover.followed.host == "two"


def test_a_switch_goes_through_while_zookeeper_is_away_and_orders_known_before_hold(
    bench: Bench,
) -> None:
    order(bench, hold=True)
    bench.failover.choose(RECORD)
    bench.store.away = True
    bench.servers.seen = (DEAD, STANDBY)
    assert bench.failover.choose(RECORD).server.host == "one", "an operator holds it there"
    bench.store.away = False
    order(bench, hold=False)
    bench.failover.choose(RECORD)
    bench.store.away = True
    chosen = bench.failover.choose(RECORD)
    assert chosen.server.host == "two"
    bench.failover.switched(chosen.switches[0])
    assert bench.failover.followed.host == "two"


def test_a_stream_is_interrupted_for_a_standby_that_would_prove_itself(streaming: Bench) -> None:
    assert streaming.interrupted() == ""
    streaming.servers.seen = (DEAD, STANDBY)
    streaming.beat()
    wait_until(lambda: streaming.interrupted() != "", "the interruption")
    assert "failed 99 heartbeats" in streaming.interrupted()
    assert streaming.failover.has_news


def test_a_failed_proof_interrupts_no_stream_and_a_divergence_is_asked_once(
    streaming: Bench,
) -> None:
    streaming.servers.seen, streaming.proof = (
        (MASTER, STANDBY),
        StandbyDiverged("Other transactions."),
    )
    order(streaming, switch_to=ServerRole.STANDBY)
    streaming.beat()
    wait_until(lambda: streaming.store.views[-1].code == "STANDBY_DIVERGED", "the refusal")
    assert streaming.interrupted() == ""
    assert isinstance(streaming.failover.refusal, StandbyDiverged)
    asked, looks = len(streaming.asked), streaming.servers.looks
    streaming.store.wake.set()
    wait_until(lambda: streaming.servers.looks > looks, "a heartbeat under the same order")
    streaming.beat()
    assert len(streaming.asked) == asked + 1, "only the new order asks again"


def test_an_order_for_the_server_that_is_read_is_done(streaming: Bench) -> None:
    order(streaming, switch_to=ServerRole.MASTER)
    streaming.beat()
    wait_until(lambda: streaming.store.standing.switch_to is None, "the order to be taken back")
    assert streaming.interrupted() == ""


def test_the_thread_outlives_zookeeper(streaming: Bench) -> None:
    streaming.store.away = True
    streaming.servers.seen = (DEAD, STANDBY)
    streaming.store.wake.set()
    wait_until(lambda: streaming.interrupted() != "", "a decision without ZooKeeper")


def test_another_server_at_a_virtual_address_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    for virtual, came in ((True, True), (False, False)):
        bench = Bench(monkeypatch, virtual_address=virtual)
        assert not bench.failover.another_came(RECORD)
        bench.servers.seen = (replace(MASTER, server_id=9), replace(STANDBY, answers=False))
        assert bench.failover.another_came(RECORD) is came


def test_a_lost_half_transaction_is_given_up_and_a_replay_ends_with_its_server() -> None:
    half = replace(RECORD, split=SplitProgress(HERE.binlog, "0-1-8", 3, 1, 1, ""))
    assert switched_record(half, ProvenPosition(THERE)).split == half.split
    assert switched_record(half, ProvenPosition(THERE, lost="0-1-9")).split == half.split
    assert switched_record(half, ProvenPosition(THERE, lost="0-1-8")).split is None
    again = replace(RECORD, replay=Replay(HERE.binlog, HERE.binlog, OrderPair(9, 9)))
    moved = switched_record(again, ProvenPosition(THERE))
    assert (moved.replay, moved.order) == (None, RECORD.order.raised_to(OrderPair(9, 9)))
