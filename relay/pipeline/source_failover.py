"""From which server an instance reads: heartbeats, orders, the decision, and the proof before the first row of another server."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import monotonic, time
from typing import Final

import structlog

from relay.errors import RelayError, StandbyBehind, StandbyDiverged, StandbyPurged, SwitchingSource, SwitchNeedsGtid, SwitchRefused
from relay.ha import Action, Decision, Situation, SwitchRules, decide, followed_role
from relay.model.failover import Published, ServerRole
from relay.model.position import OrderPair
from relay.pipeline.failover_view import failover_view, show_gauges
from relay.pipeline.meter import Meter
from relay.pipeline.watched_servers import WatchedServers
from relay.position import PositionRecord
from relay.settings import InstanceSettings, SourceSettings
from relay.source import ProvenPlace, place_before, proven_place
from relay.state import FailoverStore, StandingOrders, SwitchNote
from relay.telemetry.metrics import SOURCE_SWITCHES

_LOOK_SECONDS: Final = 0.1
_VIEW_SECONDS: Final = 5.0
"""A view that says nothing new is written again after this time, so that its age tells whether anybody watches."""

_REFUSALS: Final[dict[str, type[SwitchRefused]]] = {each.code: each for each in (StandbyPurged, StandbyDiverged, SwitchNeedsGtid)}

_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Where the next stream comes from, and the record that it goes on from; `switch` tells of the switch that this is, if it is one."""

    settings: SourceSettings
    record: PositionRecord | None
    switch: SwitchNote | None = None


class SourceFailover:
    """Chooses the server for every new stream of one instance, and interrupts a stream when another server is to be read.

    The position record's identity says which server is followed; ZooKeeper's documents only say what is wanted. Without a standby and
    without a virtual address nothing is watched and nothing is chosen.
    """

    def __init__(self, instance: InstanceSettings, store: FailoverStore, meter: Meter) -> None:
        self._name = instance.name
        self._source = instance.source
        self._rules = instance.failover
        self._store = store
        self._meter = meter
        self._managed = instance.source.standby is not None or instance.failover.virtual_address
        self._servers = WatchedServers(instance.source, instance.failover)
        self._standing = StandingOrders()
        self._noted: ServerRole | None = None
        self._before: str | None = None
        self._streaming = False
        self._asked: Decision | None = None
        self._diverged: tuple[int, Decision] | None = None
        self._shown: tuple[object, ...] = ()
        self._shown_at_s = 0.0
        self._wake, self._news = threading.Event(), threading.Event()
        self._lock = threading.Lock()

    # While this relay leads.

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Keep heartbeats and orders in sight."""
        if not self._managed:
            yield
            return
        ended = threading.Event()
        watch = self._store.watch_orders(self._name, self._wake)
        thread = threading.Thread(target=self._watch, args=(ended,), name=f"failover-{self._name}", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            self._wake.set()
            watch.cancel()
            # A heartbeat to a server that does not answer takes seconds, and another relay may wait to lead: the thread ends by itself.
            thread.join(_LOOK_SECONDS)

    @contextmanager
    def streaming(self) -> Iterator[None]:
        """Rows flow within; `check` then tells when they shall come from elsewhere."""
        self._streaming, self._asked = True, None
        try:
            yield
        finally:
            self._streaming, self._asked = False, None

    def check(self) -> None:
        """Raise SwitchingSource when another server is to be read."""
        if self._asked is not None:
            raise SwitchingSource(self._asked.reason)

    def news(self, stop: threading.Event, seconds: float) -> bool:
        """Wait until `stop` or news of servers or orders since the last choice: True; False when the time is over."""
        until_s = monotonic() + seconds
        while not self._news.is_set() and not stop.is_set() and (left_s := until_s - monotonic()) > 0:
            stop.wait(min(_LOOK_SECONDS, left_s))
        return stop.is_set() or self._news.is_set()

    # The choice.

    def choose(self, record: PositionRecord | None) -> Chosen:
        """Say where to read on. Raises StandbyBehind, a SwitchRefused, or what keeps a server from proving itself."""
        if record is None or not self._managed:
            return Chosen(self._source, record)
        with self._lock:
            self._news.clear()
            self._read_orders()
            situation = self._situation(record)
            decision = decide(situation)
            self._show(situation, decision)
        if decision.action is Action.WAIT:
            raise StandbyBehind(f"{decision.reason}.")
        if decision.action is Action.STOP:
            raise _REFUSALS[decision.code](decision.reason)
        if decision.action is Action.SWITCH and decision.to is not None:
            return self._moved(decision, decision.to, situation, record)
        return Chosen(self._servers.settings[situation.followed], record)

    def another_came(self, record: PositionRecord) -> bool:
        """Whether another server has come to a virtual address since the choice, so that it is to be made again."""
        if not self._rules.virtual_address:
            return False
        with self._lock:
            situation = self._situation(record)
        followed = situation.server(situation.followed)
        return followed is not None and followed.answers and not followed.is_of(record.source.identity)

    def switched(self, note: SwitchNote) -> None:
        """The record that names the other server is committed: tell it, and forget the order that it came from."""
        _log.warning("source_switched", instance=self._name, to=note.to, place=note.place, reason=note.reason, lost=note.lost)
        SOURCE_SWITCHES.labels(self._name).inc()
        self._noted, self._before = ServerRole(note.to), None
        try:
            self._store.note_switch(self._name, note)
        except RelayError as exc:
            _log.warning("switch_not_noted", instance=self._name, reason=exc.reason)
        self._forget_orders()

    def _moved(self, decision: Decision, to: ServerRole, situation: Situation, record: PositionRecord) -> Chosen:
        settings, standing = self._servers.settings[to], self._standing
        place = self._place(settings, situation.published, record)
        split = None if place.lost and record.split is not None and record.split.gtid in place.lost else record.split
        # What was being replayed was counted by places of the former server: the rest of it comes under the new epoch.
        order = record.order if record.replay is None else OrderPair(*map(max, record.order, record.replay.order))
        moved = replace(record, source=place.position, epoch=record.epoch + 1, order=order, split=split, replay=None)
        note = SwitchNote(
            at_ms=int(time() * 1000),
            to=to.value,
            place=f"{settings.host}:{settings.port}",
            reason=decision.reason,
            epoch=moved.epoch,
            lost=place.lost,
            left_out=place.left_out,
            errant=self._servers.errant,
            accepted_by=standing.accepted_by if place.lost or place.left_out else "",
            asked_by=standing.by if standing.switch_to is to else "",
        )
        return Chosen(settings, moved, note)

    def _place(self, settings: SourceSettings, published: Published, record: PositionRecord) -> ProvenPlace:
        try:
            return proven_place(settings, published, self._standing.accepted)
        except SwitchNeedsGtid:
            # Half a transaction could not be found again by its time.
            if self._rules.switch_without_gtid == "stop" or record.split is not None:
                raise
        return ProvenPlace(place_before(settings, record.change_time_ms / 1000 - self._rules.fallback_interval_seconds))

    def _forget_orders(self) -> None:
        """What was done must not be done again after the next switch; while ZooKeeper is away, every heartbeat tries again."""
        try:
            self._standing = self._store.change_orders(self._name, lambda standing: replace(standing, switch_to=None, accepted=""))
        except RelayError as exc:
            _log.warning("orders_not_forgotten", instance=self._name, reason=exc.reason)

    # The thread.

    def _watch(self, ended: threading.Event) -> None:
        interval_s = self._rules.detecting_interval_seconds if self._rules.detecting_enable else None
        while not ended.is_set():
            try:
                with self._lock:
                    self._beat(ended)
            except RelayError as exc:
                _log.warning("failover_not_judged", instance=self._name, reason=exc.reason)
            self._wake.wait(interval_s)
            self._wake.clear()
        self._servers.close()

    def _beat(self, ended: threading.Event) -> None:
        self._read_orders()
        record = self._meter.record
        if record is None:
            return
        situation = self._situation(record)
        if ended.is_set():
            return
        decision = decide(situation)
        if decision.action is Action.SWITCH and self._streaming:
            decision = self._tried(decision, situation)
        self._show(situation, decision)
        self._before = record.source.gtid_set
        if self._standing.switch_to is situation.followed and decision.action is Action.STAY and self._streaming:
            self._forget_orders()
        if decision.action is Action.SWITCH and self._streaming:
            self._asked = decision

    def _tried(self, decision: Decision, situation: Situation) -> Decision:
        """Make the proof once before a stream is interrupted for it, as of the last heartbeat; a divergence is for good."""
        number = self._standing.number
        if self._diverged is not None and self._diverged[0] == number:
            return self._diverged[1]
        if decision.to is None or not situation.published.gtid_set:
            return decision
        published = replace(situation.published, gtid_set=situation.published_before, split_gtid="")
        try:
            proven_place(self._servers.settings[decision.to], published, self._standing.accepted)
        except RelayError as exc:
            refused = replace(decision, action=Action.STAY, reason=exc.reason, code=exc.code)
            if isinstance(exc, StandbyDiverged):
                self._diverged = (number, refused)
            return refused
        return decision

    def _situation(self, record: PositionRecord) -> Situation:
        source = record.source
        published = Published(source.identity, source.gtid_set, record.split.gtid if record.split is not None else "")
        seen = self._servers.look()
        followed = followed_role(published, seen, self._noted)
        self._noted = followed
        self._servers.compare(followed, seen)
        rules = SwitchRules(
            self._rules.retry_threshold,
            automatic=self._rules.heartbeat_ha_enable,
            virtual_address=self._rules.virtual_address,
            without_gtid=self._rules.switch_without_gtid == "fallback",
        )
        before = source.gtid_set if self._before is None else self._before
        return Situation(followed, seen, published, before, self._standing.orders, rules, self._streaming)

    def _read_orders(self) -> None:
        """Take over what stands in ZooKeeper; while it is away, what was known last goes on to hold."""
        try:
            if self._noted is None and (view := self._store.view(self._name)) is not None:
                self._noted = view.followed_role
            self._standing = self._store.orders(self._name)
        except RelayError as exc:
            _log.warning("orders_not_read", instance=self._name, reason=exc.reason)

    def _show(self, situation: Situation, decision: Decision) -> None:
        """Tell ZooKeeper what is new, and who waits that there is something new."""
        view = failover_view(situation, decision, self._standing.number, self._servers.errant)
        show_gauges(self._name, view)
        told = (decision.action, decision.reason, view.followed, view.orders, *((each.answers, each.errant) for each in view.servers))
        fresh = told != self._shown
        if fresh or monotonic() - self._shown_at_s >= _VIEW_SECONDS:
            try:
                self._store.put_view(self._name, view)
                self._shown, self._shown_at_s = told, monotonic()
            except RelayError as exc:
                _log.warning("failover_not_shown", instance=self._name, reason=exc.reason)
        if fresh:
            self._news.set()
