"""Decides from which server a source is read, from checks of the servers and operators' orders.

A switch is proved before a row of the other server is read.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import structlog

from relay.errors import RelayError, StandbyBehind, SwitchingSource, SwitchRefused
from relay.ha import (
    Action,
    Decision,
    Situation,
    SwitchRules,
    decide,
    first_server,
    followed_role,
)
from relay.model.failover import Published, ServerRole
from relay.model.positions.position import SourcePosition
from relay.model.records.position_record import PositionRecord
from relay.pipeline.failover.digest_switch import raise_refusal, refusal_of
from relay.pipeline.failover.failover_status import FailoverReport, failover_view
from relay.pipeline.failover.orders_in_force import OrdersInForce
from relay.pipeline.failover.polling_loop import PollingLoop
from relay.pipeline.failover.server_news import wait_for_news
from relay.pipeline.failover.server_watches import ServerWatches
from relay.pipeline.failover.source_switch import SourceSwitch
from relay.pipeline.ingest.position_digests import FingerprintRecorder
from relay.pipeline.ingest.source_choice import SourceChoice
from relay.settings import InstanceSettings, SourceSettings
from relay.state import FailoverStore, SwitchNote
from relay.telemetry.metrics import SOURCE_SWITCHES

_log = structlog.stdlib.get_logger(__name__)


class SourceFailover:
    """Chooses the server for every new stream of one source, and interrupts a stream if another
    server must be read.

    The identity in the position record names the server that is followed. ZooKeeper's documents
    name only the server that is wanted. Without a standby and without a virtual address, the
    configured server is always chosen.

    committed  returns the last committed record, reduced to this source
    name       the source's name in a group; "": a single source
    serves     True: the followed server answered the last check
    """

    def __init__(
        self,
        instance: InstanceSettings,
        source: SourceSettings,
        store: FailoverStore,
        committed: Callable[[], PositionRecord | None],
        name: str = "",
    ) -> None:
        self.managed = source.standby is not None or instance.failover.virtual_address
        self._name = instance.name
        self._source_name = name
        self._source = source
        self._rules = instance.failover
        self._store = store
        self._committed = committed
        self._log = _log.bind(instance=instance.name, **({"source": name} if name else {}))
        self._shown = FailoverReport(instance.name, name, store)
        self._servers = ServerWatches(source, instance.failover)
        self._switch = SourceSwitch(instance, self._servers, name)
        self._orders = OrdersInForce(instance.name, store, self._log)
        self._noted: ServerRole | None = None
        self._before: str | None = None
        self._streaming = False
        self._asked: Decision | None = None
        self._decided: Decision | None = None
        self.serves = False
        self._news = threading.Event()
        self._lock = threading.Lock()
        self._loop = PollingLoop(
            "-".join(filter(None, (instance.name, name))),
            self._rules.detecting_interval_seconds if self._rules.detecting_enable else None,
            self._judge,
            self._servers.close,
        )

    # While this relay leads.

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Context manager: check the servers and watch the operators' orders."""
        if not self.managed:
            yield
            return
        with self._loop.running(partial(self._store.watch_orders, self._name)):
            yield

    @contextmanager
    def streaming(self) -> Iterator[None]:
        """Context manager while rows are streamed: `check` then reports that they must come from
        another server.
        """
        self._streaming, self._asked = True, None
        try:
            yield
        finally:
            self._streaming, self._asked = False, None

    def check(self) -> None:
        """Raise SwitchingSource if the source must be read from another server."""
        if self._asked is not None:
            raise SwitchingSource(self._asked.reason)

    def wait_for_news(self, stop: threading.Event, seconds: float) -> bool:
        """Wait up to `seconds` seconds; return True if a server or an operator's order changed
        since the last choice, or if `stop` is set.
        """
        return wait_for_news((self,), stop, seconds)

    @property
    def has_news(self) -> bool:
        """Return whether a server or an operator's order changed since the last choice."""
        return self._news.is_set()

    def forget_news(self) -> None:
        """Record that a choice is made now: `has_news` reports only later changes."""
        self._news.clear()

    @property
    def followed(self) -> SourceSettings:
        """The settings of the server that had the published position at the last check."""
        return self._servers.settings.get(self._noted or ServerRole.MASTER, self._source)

    @property
    def refusal(self) -> RelayError | None:
        """Why the last decision did not switch to the wanted server; None if no switch was wanted,
        or nothing prevents it.
        """
        return None if self._decided is None else refusal_of(self._decided)

    # The choice.

    def choose(self, record: PositionRecord | None) -> SourceChoice:
        """Return the server to read from and the record to continue from.

        Raises StandbyBehind, a SwitchRefused, or the error that prevented the proof of a switch.
        """
        if record is None:
            return SourceChoice({self._source_name: self._first()}, None)
        if not self.managed:
            return SourceChoice({self._source_name: self._source}, record)
        with self._lock:
            self.forget_news()
            self._noted = self._orders.read(self._noted)
            situation = self._situation(record)
            decision = decide(situation)
            self._show(situation, decision)
        raise_refusal(decision)
        if decision.action is Action.SWITCH and decision.to is not None:
            try:
                return self._switch.made(
                    decision, decision.to, situation, record, self._orders.standing
                )
            except (StandbyBehind, SwitchRefused) as exc:
                if (
                    record.source.gtid_set
                    or not situation.followed_serves
                    or not self._switch.digests.gives_up(exc)
                ):
                    raise
                self._log.warning("switch_postponed", reason=exc.reason)
        return SourceChoice({self._source_name: self._servers.settings[situation.followed]}, record)

    def _first(self) -> SourceSettings:
        """Return the server of an instance that never published."""
        if not self._source.starts_at_standby:
            return self._source
        with self._lock:
            self.forget_news()
            self._noted = self._orders.read(self._noted)
            role = first_server(
                self._servers.poll(), self._orders.standing.orders, self._switch_rules
            )
        if role is not ServerRole.MASTER:
            self._log.warning(
                "standby_chosen_at_first_start", place=self._servers.settings[role].host
            )
        return self._servers.settings[role]

    @property
    def _switch_rules(self) -> SwitchRules:
        return SwitchRules(
            self._rules.retry_threshold,
            automatic=self._rules.heartbeat_ha_enable,
            virtual_address=self._rules.virtual_address,
            without_gtid=self._rules.switch_without_gtid != "stop",
            by_digest=self._switch.digests.chosen,
        )

    def fingerprints(
        self, start: SourcePosition, record: PositionRecord | None
    ) -> FingerprintRecorder | None:
        """Return the recorder that computes the digests of a stream from `start` on.

        None if no switch will need the digests.
        """
        return self._switch.digests.fingerprints(start, record) if self.managed else None

    def another_came(self, record: PositionRecord) -> bool:
        """Return whether the virtual address now leads to another server than the one that `record`
        names, so that the choice must be repeated.
        """
        if not self._rules.virtual_address:
            return False
        with self._lock:
            situation = self._situation(record)
        followed = situation.server(situation.followed)
        return (
            followed is not None and followed.answers and not followed.is_of(record.source.identity)
        )

    def switched(self, note: SwitchNote) -> None:
        """Report the switch, and delete the order for it. Call it after the position record on the
        new server is committed.
        """
        self._log.warning(
            "source_switched", to=note.to, place=note.place, reason=note.reason, lost=note.lost
        )
        SOURCE_SWITCHES.labels(self._name).inc()
        self._noted, self._before = ServerRole(note.to), None
        try:
            self._store.note_switch(self._name, note)
        except RelayError as exc:
            self._log.warning("switch_not_recorded", reason=exc.reason)
        self._orders.forget()

    # The thread.

    def _judge(self, ended: threading.Event) -> None:
        try:
            with self._lock:
                self._beat(ended)
        except RelayError as exc:
            self._log.warning("failover_not_decided", reason=exc.reason)

    def _beat(self, ended: threading.Event) -> None:
        self._noted = self._orders.read(self._noted)
        record = self._committed()
        if record is None:
            return
        situation = self._situation(record)
        if ended.is_set():
            return
        decision = decide(situation)
        if decision.action is Action.SWITCH and self._streaming:
            decision = self._switch.tried(decision, situation, record, self._orders.standing)
        self._show(situation, decision)
        self._before = record.source.gtid_set
        if (
            self._orders.standing.switch_to is situation.followed
            and decision.action is Action.STAY
            and self._streaming
        ):
            self._orders.forget()
        if decision.action is Action.SWITCH and self._streaming:
            self._asked = decision

    def _situation(self, record: PositionRecord) -> Situation:
        source = record.source
        published = Published(
            source.identity, source.gtid_set, record.split.gtid if record.split is not None else ""
        )
        seen = self._servers.poll()
        followed = followed_role(published, seen, self._noted)
        self._noted = followed
        self._servers.compare(followed, seen)
        before = source.gtid_set if self._before is None else self._before
        return Situation(
            followed,
            seen,
            published,
            before,
            self._orders.standing.orders,
            self._switch_rules,
            self._streaming,
        )

    def _show(self, situation: Situation, decision: Decision) -> None:
        """Write changes to ZooKeeper, and signal waiting threads."""
        self._decided, self.serves = decision, situation.followed_serves
        if self._shown.show(
            failover_view(situation, decision, self._orders.standing.number, self._servers.errant)
        ):
            self._news.set()
