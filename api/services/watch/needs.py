"""Finds the problems that need an operator, in facts that were read before."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from api.models.watch.needs import NeedKind, NeedView
from api.services.watch.facts import STANDBY, Facts, held_back_by, unmapped_name

PATIENCE_MS: Final = 120_000
"""A condition that may end by itself is not reported for this long, in milliseconds."""
LETTERS_MS: Final = 86_400_000
"""A dead letter is reported for this many milliseconds after it was written."""
SHORT_SHARE: Final = 0.25
"""A paused instance is reported when less than this share of the binlog's retention is left."""
UNKNOWN_RETENTION_SECONDS: Final = 86_400.0
"""If the binlog's retention is unknown, a paused instance is reported after this many seconds."""
_RANKS: Final[Mapping[NeedKind, int]] = {"stopped": 0, "waiting": 1, "lag": 2}
_OTHER: Final = 3


@dataclass(frozen=True, slots=True)
class GoneRelay:
    """A relay that is not connected any more. Its server (host) has no other connected relay.

    name      name of the relay
    server    name of its server
    since_ms  time since which it is not connected, in Unix milliseconds
    """

    name: str
    server: str
    since_ms: int


def needs_you(
    facts: Iterable[Facts], gone: Iterable[GoneRelay], now_ms: int, lag_limit_s: float
) -> list[NeedView]:
    """Return the problems that need an operator.

    facts        the facts about instances
    gone         the relays that are not connected any more
    now_ms       the present time in Unix milliseconds
    lag_limit_s  the lag in seconds above which an operator is needed

    Stopped instances are first, then waiting ones, then lag, then the rest. Problems of one kind
    are sorted by age, the oldest first.
    """
    found = [
        need
        for each in facts
        for rule in _RULES
        if (need := rule(each, now_ms, lag_limit_s)) is not None
    ]
    found += [_gone(each) for each in gone]
    return sorted(
        found,
        key=lambda need: (_RANKS.get(need.kind, _OTHER), need.since_ms, need.instance, need.kind),
    )


def _stopped(facts: Facts, _now_ms: int, _limit_s: float) -> NeedView | None:
    return _of_status(facts, "stopped") if facts.period.state == "STOPPED" else None


def _waiting(facts: Facts, now_ms: int, _limit_s: float) -> NeedView | None:
    due = facts.period.state == "WAITING" and now_ms - facts.period.since_ms >= PATIENCE_MS
    return _of_status(facts, "waiting") if due else None


def _unled(facts: Facts, now_ms: int, _limit_s: float) -> NeedView | None:
    if now_ms - facts.period.since_ms < PATIENCE_MS:
        return None
    view = facts.view
    if facts.period.state == "NEVER_REPORTED":
        return _need(facts, "unled", "NO_LEADER", view.reason, view.remedy, facts.period.since_ms)
    if facts.period.state != STANDBY:
        return None
    last = f" {view.relay} reported it last." if view.relay else ""
    return _need(
        facts,
        "unled",
        "NO_LEADER",
        f"No relay leads {view.name}.{last}",
        "Start a relay whose settings contain this instance. The servers page shows why a "
        "running relay cannot lead it.",
        facts.period.since_ms,
    )


def _lag(facts: Facts, now_ms: int, limit_s: float) -> NeedView | None:
    since, lag = facts.lag_since_ms, facts.view.lag_seconds
    if facts.period.state != "RUNNING" or since is None or now_ms - since < PATIENCE_MS:
        return None
    return _need(
        facts,
        "lag",
        "LAG_ABOVE_LIMIT",
        f"{facts.view.name} is {lag or 0:,.0f} s behind its source; the limit is {limit_s:,.0f} s.",
        _remedy_of_lag(facts),
        since,
    )


def _remedy_of_lag(facts: Facts) -> str:
    held_back = held_back_by(facts.view)
    if held_back != facts.view.held_back:
        return f"The instance is {held_back}. Raise or remove the limit with Throttle."
    return held_back or (
        "Look at the page of the instance: does the source write more than usual, or does "
        "Kafka answer slowly?"
    )


def _binlog_short(facts: Facts, now_ms: int, _limit_s: float) -> NeedView | None:
    """Report a paused instance whose source may soon purge binlog that it has not read."""
    if facts.period.state != "PAUSED":
        return None
    name, kept = facts.view.name, facts.view.binlog_kept_seconds
    paused_s = (now_ms - facts.period.since_ms) / 1000
    unread_s = max(paused_s, facts.view.lag_seconds or 0.0)
    if kept is None:
        if paused_s < UNKNOWN_RETENTION_SECONDS:
            return None
        left = "How long its source keeps the binlog is not known."
    elif kept == 0 or unread_s < kept * (1 - SHORT_SHARE):
        return None
    elif unread_s >= kept:
        left = "Its source may have purged binlog that it has not read."
    else:
        left = f"Its source may purge binlog that it has not read in {_hours(kept - unread_s)}."
    reason = f"{name} is paused, and has read its source up to {_hours(unread_s)} ago. {left}"
    remedy = (
        "Resume the instance, or let the source keep its binlog longer "
        "(binlog_expire_logs_seconds)."
    )
    return _need(facts, "binlog_short", "BINLOG_SHORT", reason, remedy, facts.period.since_ms)


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"


def _mapping(facts: Facts, _now_ms: int, _limit_s: float) -> NeedView | None:
    if facts.mapping_since_ms is None:
        return None
    return _need(
        facts,
        "mapping",
        "MAPPING_PROBLEM",
        facts.view.mapping_problem,
        f"Correct the mapping. Set {facts.view.mapping_set} stays active until then.",
        facts.mapping_since_ms,
        link="mappings",
    )


def _spool(facts: Facts, _now_ms: int, _limit_s: float) -> NeedView | None:
    if facts.spool_since_ms is None:
        return None
    return _need(
        facts,
        "spool",
        "SPOOL_FULL",
        facts.view.spool_problem or f"The spool of {facts.view.name} on disk is full.",
        "Make Kafka available again. Until then the source must keep its binlog files.",
        facts.spool_since_ms,
    )


def _letters(facts: Facts, now_ms: int, _limit_s: float) -> NeedView | None:
    if facts.letters_ms is None or now_ms - facts.letters_ms > LETTERS_MS:
        return None
    rows = (
        "1 row is a new dead letter"
        if facts.letters == 1
        else (f"{facts.letters:,} rows are new dead letters")
    )
    return _need(
        facts,
        "dead_letters",
        "DEAD_LETTERS",
        f"{rows}.",
        "Open the dead letters, remove the cause that they name, then replay them.",
        facts.letters_ms,
        link=f"dead-letters?instance={quote(facts.view.name, safe='')}",
    )


def _keys(facts: Facts, _now_ms: int, _limit_s: float) -> NeedView | None:
    if not facts.view.keys_differ:
        return None
    return _need(
        facts,
        "keys",
        "KEYS_DIFFER",
        facts.view.keys_differ,
        "Give the key columns one type and character set in all instances, or map the table to a "
        "new topic and copy it. Until then consumers must compare the order key.",
        facts.period.since_ms,
    )


_RULES: Final[tuple[Callable[[Facts, int, float], NeedView | None], ...]] = (
    _stopped,
    _waiting,
    _unled,
    _lag,
    _binlog_short,
    _mapping,
    _spool,
    _letters,
    _keys,
)


def _gone(relay: GoneRelay) -> NeedView:
    return NeedView(
        kind="relay_gone",
        instance="",
        server=relay.server,
        state="",
        code="RELAY_GONE",
        reason=f"The relay of server {relay.server} has ended (process {relay.name}).",
        remedy="Start it again, or put the server into maintenance until you start it.",
        since_ms=relay.since_ms,
        exact=True,
        link="servers",
    )


def _of_status(facts: Facts, kind: NeedKind) -> NeedView:
    view = facts.view
    return _need(facts, kind, view.code, view.reason, view.remedy, facts.period.since_ms)


def _need(
    facts: Facts,
    kind: NeedKind,
    code: str,
    reason: str,
    remedy: str,
    since_ms: int,
    link: str = "",
) -> NeedView:
    name = facts.view.name
    return NeedView(
        kind=kind,
        instance=name,
        server="",
        state=facts.period.state,
        code=code,
        reason=reason,
        remedy=remedy,
        since_ms=since_ms,
        exact=since_ms != facts.period.since_ms or facts.period.exact,
        link=link or f"instances/{quote(name, safe='')}",
        unmapped=unmapped_name(facts.view) if kind == "stopped" else "",
    )
