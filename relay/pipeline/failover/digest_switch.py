"""Switches to a server without GTIDs: digests in its binlog prove which coordinates follow the
published position (ADR 32).
"""

from collections.abc import Mapping
from time import monotonic
from typing import Final

from relay.errors import (
    PlaceAmbiguous,
    StandbyBehind,
    StandbyDiverged,
    StandbyLacks,
    StandbyPurged,
    SwitchNeedsGtid,
    SwitchRefused,
)
from relay.ha import Action, Decision, decide_by_digest, landmark_unknown
from relay.model.failover import ServerRole
from relay.model.positions.position import SourcePosition
from relay.model.records.position_record import PositionRecord
from relay.pipeline.ingest.position_digests import FingerprintRecorder
from relay.settings import InstanceSettings, SourceSettings
from relay.source import SearchStart, find_landmark

_REFUSALS: Final[dict[str, type[SwitchRefused]]] = {
    each.code: each
    for each in (StandbyPurged, StandbyDiverged, StandbyLacks, PlaceAmbiguous, SwitchNeedsGtid)
}
_PATIENCE_SECONDS: Final = 5.0
"""So long a server that serves is left unread while the other one, which had nearly everything,
gets the rest.
"""
_REST_FACTOR: Final = 10
"""Searches that are made while rows flow take this part of the time at most."""


class DigestSwitch:
    """Finds the coordinates at which reading continues on a source's other server, by digests.

    For one source; one thread at a time uses it. `chosen` is True if the setting
    `switch_without_gtid` is "digest".
    """

    def __init__(
        self, instance: InstanceSettings, servers: Mapping[ServerRole, SourceSettings]
    ) -> None:
        self.chosen = instance.failover.switch_without_gtid == "digest"
        self._servers = servers
        self._skew_s = instance.transaction.max_clock_skew_seconds
        self._margin_s = instance.failover.fallback_interval_seconds + self._skew_s
        self._start: tuple[ServerRole, int, SearchStart] | None = None
        self._tries_again_s = self._waits_since_s = 0.0

    def fingerprints(
        self, start: SourcePosition, record: PositionRecord | None
    ) -> FingerprintRecorder | None:
        """Return the recorder that computes the digests of a stream from `start` on.

        None if no switch will need the digests: the setting `switch_without_gtid` is not "digest",
        or the position has GTIDs.
        """
        return (
            FingerprintRecorder(start.binlog, record, self._skew_s)
            if self.chosen and not start.gtid_set
            else None
        )

    def find(self, to: ServerRole, record: PositionRecord) -> SourcePosition:
        """Return the position on the server `to` after the transactions that `record` counts as
        published.

        Raises StandbyBehind if `to` lacks some of these transactions, or a SwitchRefused.
        """
        fingerprint = record.place
        unknown = landmark_unknown(fingerprint, half=record.split is not None)
        if unknown or fingerprint is None or fingerprint.landmark is None:
            raise PlaceAmbiguous(unknown)
        known = (
            self._start[2]
            if self._start is not None and self._start[:2] == (to, fingerprint.landmark.second)
            else None
        )
        report = find_landmark(self._servers[to], fingerprint, self._margin_s, known)
        self._start = to, fingerprint.landmark.second, report.start
        raise_refusal(decide_by_digest(report.sought, report.replication, to))
        if report.sought.position is None:
            raise PlaceAmbiguous(f"No matching position on the {to} was found.")
        self._waits_since_s = 0.0
        return report.sought.position

    def rests(self) -> bool:
        """Return whether no search may begin now while rows are streamed, so that searches take at
        most a tenth of the time.
        """
        return monotonic() < self._tries_again_s

    def check_found(self, to: ServerRole, record: PositionRecord) -> None:
        """Check, while rows are streamed, that `find` would succeed. Raises its errors."""
        began_s = monotonic()
        try:
            self.find(to, record)
        finally:
            ended_s = monotonic()
            self._tries_again_s = ended_s + _REST_FACTOR * (ended_s - began_s)

    def gives_up(self, error: StandbyBehind | SwitchRefused) -> bool:
        """Return whether to continue on the server that was read before, because the server to
        switch to is not ready.

        `error` is the error of the search. After StandbyBehind, the result is True only if no
        search has succeeded for 5 seconds, because the standby may still receive the missing
        transactions.
        """
        if not self.chosen:
            return False
        now_s = monotonic()
        if isinstance(error, StandbyBehind):
            self._waits_since_s = self._waits_since_s or now_s
            if now_s - self._waits_since_s < _PATIENCE_SECONDS:
                return False
        self._waits_since_s = 0.0
        return True


def raise_refusal(decision: Decision) -> None:
    """Raise the error of `decision` if the decision is to wait or to stop; otherwise do nothing."""
    if decision.action in (Action.WAIT, Action.STOP):
        raise refusal_of(decision) or SwitchRefused(decision.reason)


def refusal_of(decision: Decision) -> StandbyBehind | SwitchRefused | None:
    """Return the error that prevents a switch to the wanted server.

    None if no switch is wanted or nothing prevents it.
    """
    if decision.action is Action.WAIT or decision.code == StandbyBehind.code:
        return StandbyBehind(f"{decision.reason.rstrip('.')}.")
    return _REFUSALS[decision.code](decision.reason) if decision.code in _REFUSALS else None
