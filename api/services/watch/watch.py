"""The watch: reads every instance and relay at a fixed interval, and keeps a history in memory."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from time import monotonic, time
from typing import Final

import structlog

from api.services.instance_directory import InstanceDirectory
from api.services.mappings.effects.load import InstanceRates
from api.services.watch.addresses import address_of, grouped_addresses
from api.services.watch.facts import Facts, StatePeriod
from api.services.watch.gone_relays import RelayRoll
from api.services.watch.history import SPANS, InstanceHistory, Metric, Range, Series
from api.services.watch.moment import Moment
from api.services.watch.needs import needs_you
from api.services.watch.state_changes import ChangeLog
from relay.errors import NodeMissing, RelayError
from relay.operations import DefinedInstances
from relay.state import PlacementStore
from relay.threads import Guard, RelayThread
from relay.zk import Session

INTERVAL_SECONDS: Final = 5.0
SPARK_POINTS: Final = 24
_FRESH_SECONDS: Final = 1.0
"""A page that is read again shows a reading of this age at most."""
_STOP_SECONDS: Final = 5.0
_SETTINGS_SECONDS: Final = 30.0
"""Settings of instances are read again after this many seconds."""

_log = structlog.stdlib.get_logger(__name__)


class Watch:
    """Reads all instances in a separate thread, and for a page if the last reading is older than a
    second.

    Nothing is stored: after a restart the history begins with the first reading.
    """

    def __init__(
        self,
        session: Session,
        directory: InstanceDirectory,
        overrides: PlacementStore,
        defined: Callable[[], DefinedInstances],
        lag_limit_s: float,
        now_s: Callable[[], float] = time,
    ) -> None:
        self.lag_limit_s = lag_limit_s
        self.changes = ChangeLog()
        self._session = session
        self._directory = directory
        self._overrides = overrides
        self._defined = defined
        self._now_s = now_s
        self._addresses: Mapping[str, str] = {}
        self._grouped: Mapping[str, Mapping[str, str]] = {}
        self._addresses_read_s = float("-inf")
        self._histories: dict[str, InstanceHistory] = {}
        self._roll = RelayRoll()
        self._moment = Moment()
        self._rates: tuple[Mapping[str, Facts], dict[str, InstanceRates]] = ({}, {})
        self._tried_s = float("-inf")
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = RelayThread("watch", "", self._run)

    @property
    def ended(self) -> bool:
        """Return whether the admin is stopping, so that streams of changes must end."""
        return self._ended.is_set()

    def end(self) -> None:
        """Request the end of the thread and of all streams; do not wait for it."""
        self._ended.set()

    def start(self) -> None:
        """Start the thread that reads the installation. Raises ResourcesExhausted."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread; wait a few seconds for a running reading."""
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join(_STOP_SECONDS)

    def moment(self) -> Moment:
        """Return the present state of all instances; its `error` is set if the newest reading
        failed.

        Raises StoreUnreachable if no reading has succeeded yet.
        """
        found = self.present()
        if not found.read_ms and found.error is not None:
            raise found.error
        return found

    def present(self) -> Moment:
        """Return what `moment` returns; if no reading has succeeded yet, a moment without
        instances whose `error` says why, and whose `read_ms` is 0.
        """
        found = self._looked()
        if found.read_ms or found.error is not None:
            return found
        return replace(found, error=self._session.unreachable())

    @property
    def known(self) -> Moment:
        """Return the last reading without a new one; `read_ms` is 0 if no reading has succeeded
        yet.
        """
        return self._moment

    def rates(self) -> dict[str, InstanceRates]:
        """Return instance → the rows per second that it publishes, from the last reading.

        The result is the same object until the next reading.
        """
        facts, (kept, rates) = self._moment.facts, self._rates
        if kept is not facts:
            rates = {
                name: InstanceRates(each.rate, each.view.table_rates)
                for name, each in facts.items()
            }
            self._rates = facts, rates
        return rates

    def series(self, name: str, metric: Metric, span: Range) -> Series:
        """Return one metric of an instance over a range of time. Raises NodeMissing for an unknown
        instance.
        """
        return self._history(name).series(metric, SPANS[span], int(self._now_s() * 1000))

    def sparks(self, metric: Metric) -> dict[str, Series]:
        """Return one metric of every instance during the last hour, in 24 values."""
        self.moment()
        now_ms, histories = int(self._now_s() * 1000), self._histories
        return {
            name: history.series(metric, SPANS["1h"], now_ms, SPARK_POINTS)
            for name, history in sorted(histories.items())
        }

    def periods(self, name: str, since_ms: int) -> list[StatePeriod]:
        """Return the states of an instance after `since_ms` (Unix milliseconds), the oldest first.

        Raises NodeMissing for an unknown instance.
        """
        return self._history(name).periods(since_ms)

    def _history(self, name: str) -> InstanceHistory:
        self.moment()
        found = self._histories.get(name)
        if found is None:
            raise NodeMissing(f"There is no instance {name!r}.")
        return found

    def _run(self) -> None:
        guard, pause_s = Guard("watch"), 0.0
        while not self._ended.wait(pause_s):
            with guard:
                self._looked()
            pause_s = max(INTERVAL_SECONDS, guard.pause_s)

    def _looked(self) -> Moment:
        with self._lock:
            if not self._session.connected:  # asked again as soon as it is
                self._moment = replace(self._moment, error=self._session.unreachable())
            elif monotonic() - self._tried_s >= _FRESH_SECONDS:
                self._moment = self._read()
                self._tried_s = monotonic()
            return self._moment

    def _read(self) -> Moment:
        try:
            return self._seen()
        except RelayError as exc:
            _log.warning("watch_facts_not_read", reason=exc.reason)
            return replace(self._moment, error=exc)

    def _seen(self) -> Moment:
        views, relays = self._directory.instances(), self._directory.relays()
        maintenance = frozenset(self._overrides.overrides().maintenance)
        now_ms = int(self._now_s() * 1000)
        known = self._histories
        self._histories = {each.name: known.get(each.name) or InstanceHistory() for each in views}
        facts = {
            each.name: self._histories[each.name].add(each, now_ms, self.lag_limit_s)
            for each in views
        }
        self.changes.note(facts, now_ms)
        self._roll.note(relays, now_ms)
        gone = self._roll.gone(maintenance, now_ms)
        needs = needs_you(facts.values(), gone, now_ms, self.lag_limit_s)
        self._read_addresses()
        return Moment(
            now_ms,
            facts,
            tuple(relays),
            maintenance,
            self._addresses,
            tuple(needs),
            self._grouped,
        )

    def _read_addresses(self) -> None:
        if monotonic() - self._addresses_read_s >= _SETTINGS_SECONDS:
            settings = self._defined().settings
            self._addresses = {each.name: address_of(each.source) for each in settings}
            self._grouped = {each.name: grouped_addresses(each) for each in settings}
            self._addresses_read_s = monotonic()
