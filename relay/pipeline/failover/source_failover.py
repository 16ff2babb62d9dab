"""From which server an instance reads: heartbeats, orders, the decision, and the proof before the
first row of another server.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic
from typing import Final

import structlog

from relay.errors import RelayError, StandbyBehind, SwitchingSource, SwitchRefused
from relay.ha import Action, Decision, Situation, SwitchRules, decide, followed_role
from relay.model.failover import Published, ServerRole
from relay.model.positions.position import SourcePosition
from relay.model.records.position_record import PositionRecord
from relay.pipeline.failover.digest_switch import raise_refusal, refusal_of
from relay.pipeline.failover.failover_status import FailoverReport, failover_view
from relay.pipeline.failover.heartbeats import ServerHeartbeats
from relay.pipeline.failover.source_switch import SourceSwitch
from relay.pipeline.ingest.position_digests import PublishedPlaces
from relay.pipeline.ingest.source_choice import SourceChoice
from relay.settings import InstanceSettings, SourceSettings
from relay.state import FailoverStore, StandingOrders, SwitchNote
from relay.telemetry.metrics import SOURCE_SWITCHES
from relay.threads import Guard, RelayThread

_LOOK_SECONDS: Final = 0.1

_log = structlog.stdlib.get_logger(__name__)


class SourceFailover:
    """Chooses the server for every new stream of one source, and interrupts a stream when another
    server is to be read.

    The position record's identity says which server is followed; ZooKeeper's documents only say
    what is wanted. Without a standby and without a virtual address nothing is watched and nothing
    is chosen. `committed` tells the record that was committed last, as that of this source alone. A
    source of a group has a `name`; an instance's only one has none. `serves` says whether the
    followed server did when it was looked at last.
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
        self._servers = ServerHeartbeats(source, instance.failover)
        self._switch = SourceSwitch(instance, self._servers, name)
        self._standing = StandingOrders()
        self._noted: ServerRole | None = None
        self._before: str | None = None
        self._streaming = False
        self._asked: Decision | None = None
        self._decided: Decision | None = None
        self.serves = False
        self._wake, self._news = threading.Event(), threading.Event()
        self._lock = threading.Lock()

    # While this relay leads.

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Keep heartbeats and orders in sight."""
        if not self.managed:
            yield
            return
        ended = threading.Event()
        watch = self._store.watch_orders(self._name, self._wake)
        thread = RelayThread("failover", self._thread_subject, self._watch, ended)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            self._wake.set()
            watch.cancel()
            # A heartbeat to a server that does not answer takes seconds, and another relay may wait
            # to lead: the thread ends by itself.
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
        """Wait until `stop` or news of servers or orders since the last choice: True.

        False when the time is over.
        """
        return news_of((self,), stop, seconds)

    @property
    def has_news(self) -> bool:
        """Whether servers or orders are others than at the last choice."""
        return self._news.is_set()

    def forget_news(self) -> None:
        """A choice is made; what comes from now on is news."""
        self._news.clear()

    @property
    def followed(self) -> SourceSettings:
        """The server that the position belonged to when it was looked at last."""
        return self._servers.settings.get(self._noted or ServerRole.MASTER, self._source)

    @property
    def refusal(self) -> RelayError | None:
        """Why the other server is not read although it is wanted, as it was judged last."""
        return None if self._decided is None else refusal_of(self._decided)

    # The choice.

    def choose(self, record: PositionRecord | None) -> SourceChoice:
        """Say where to read on.

        Raises StandbyBehind, a SwitchRefused, or what keeps a server from proving itself.
        """
        if record is None or not self.managed:
            return SourceChoice({self._source_name: self._source}, record)
        with self._lock:
            self.forget_news()
            self._read_orders()
            situation = self._situation(record)
            decision = decide(situation)
            self._show(situation, decision)
        raise_refusal(decision)
        if decision.action is Action.SWITCH and decision.to is not None:
            try:
                return self._switch.made(decision, decision.to, situation, record, self._standing)
            except (StandbyBehind, SwitchRefused) as exc:
                if (
                    record.source.gtid_set
                    or not situation.followed_serves
                    or not self._switch.digests.gives_up(exc)
                ):
                    raise
                self._log.warning("switch_put_off", reason=exc.reason)
        return SourceChoice({self._source_name: self._servers.settings[situation.followed]}, record)

    def places(
        self, start: SourcePosition, record: PositionRecord | None
    ) -> PublishedPlaces | None:
        """What notes the digests of a stream that starts here, None where no switch will ask for
        them.
        """
        return self._switch.digests.places(start, record) if self.managed else None

    def another_came(self, record: PositionRecord) -> bool:
        """Whether another server has come to a virtual address since the choice, so that it is to
        be made again.
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
        """The record that names the other server is committed: tell it, and forget the order that
        it came from.
        """
        self._log.warning(
            "source_switched", to=note.to, place=note.place, reason=note.reason, lost=note.lost
        )
        SOURCE_SWITCHES.labels(self._name).inc()
        self._noted, self._before = ServerRole(note.to), None
        try:
            self._store.note_switch(self._name, note)
        except RelayError as exc:
            self._log.warning("switch_not_noted", reason=exc.reason)
        self._forget_orders()

    def _forget_orders(self) -> None:
        """What was done must not be done again after the next switch.

        While ZooKeeper is away, every heartbeat tries again.
        """
        try:
            self._standing = self._store.change_orders(
                self._name, lambda standing: replace(standing, switch_to=None, accepted="")
            )
        except RelayError as exc:
            self._log.warning("orders_not_forgotten", reason=exc.reason)

    # The thread.

    def _watch(self, ended: threading.Event) -> None:
        interval_s = (
            self._rules.detecting_interval_seconds if self._rules.detecting_enable else None
        )
        guard = Guard("failover", self._thread_subject)
        while not ended.is_set():
            with guard:
                try:
                    with self._lock:
                        self._beat(ended)
                except RelayError as exc:
                    self._log.warning("failover_not_judged", reason=exc.reason)
            # Without an interval only news end the wait; after an unexpected error the heartbeat is
            # tried again by itself.
            self._wake.wait(
                interval_s if guard.error is None else max(interval_s or 0.0, guard.pause_s)
            )
            self._wake.clear()
        self._servers.close()

    @property
    def _thread_subject(self) -> str:
        return "-".join(filter(None, (self._name, self._source_name)))

    def _beat(self, ended: threading.Event) -> None:
        self._read_orders()
        record = self._committed()
        if record is None:
            return
        situation = self._situation(record)
        if ended.is_set():
            return
        decision = decide(situation)
        if decision.action is Action.SWITCH and self._streaming:
            decision = self._switch.tried(decision, situation, record, self._standing)
        self._show(situation, decision)
        self._before = record.source.gtid_set
        if (
            self._standing.switch_to is situation.followed
            and decision.action is Action.STAY
            and self._streaming
        ):
            self._forget_orders()
        if decision.action is Action.SWITCH and self._streaming:
            self._asked = decision

    def _situation(self, record: PositionRecord) -> Situation:
        source = record.source
        published = Published(
            source.identity, source.gtid_set, record.split.gtid if record.split is not None else ""
        )
        seen = self._servers.look()
        followed = followed_role(published, seen, self._noted)
        self._noted = followed
        self._servers.compare(followed, seen)
        rules = SwitchRules(
            self._rules.retry_threshold,
            automatic=self._rules.heartbeat_ha_enable,
            virtual_address=self._rules.virtual_address,
            without_gtid=self._rules.switch_without_gtid != "stop",
            by_digest=self._switch.digests.chosen,
        )
        before = source.gtid_set if self._before is None else self._before
        return Situation(
            followed, seen, published, before, self._standing.orders, rules, self._streaming
        )

    def _read_orders(self) -> None:
        """Take over what stands in ZooKeeper.

        While it is away, what was known last goes on to hold.
        """
        try:
            if self._noted is None and (view := self._store.view(self._name)) is not None:
                self._noted = view.followed_role
            self._standing = self._store.orders(self._name)
        except RelayError as exc:
            self._log.warning("orders_not_read", reason=exc.reason)

    def _show(self, situation: Situation, decision: Decision) -> None:
        """Tell ZooKeeper what is new, and who waits that there is something new."""
        self._decided, self.serves = decision, situation.followed_serves
        if self._shown.show(
            failover_view(situation, decision, self._standing.number, self._servers.errant)
        ):
            self._news.set()


def news_of(sources: Iterable[SourceFailover], stop: threading.Event, seconds: float) -> bool:
    """Wait until `stop` or news of one of the sources: True; False when the time is over."""
    sources, until_s = tuple(sources), monotonic() + seconds
    while (
        not (news := any(each.has_news for each in sources))
        and not stop.is_set()
        and (left_s := until_s - monotonic()) > 0
    ):
        stop.wait(min(_LOOK_SECONDS, left_s))
    return news or stop.is_set() or any(each.has_news for each in sources)
