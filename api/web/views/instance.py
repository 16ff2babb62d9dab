"""Computes the data of an instance's page: sentence, key figures, and filtered tables."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from api.services.watch import Facts
from api.web import words
from api.web.views.relay_names import RelayNames

_MS: Final = 1000
_CAUSES: Final[Mapping[str, str]] = {
    "filter": "The instance's filter excludes the table.",
    "unmapped_table": "No table mapping lists the table.",
    "unmapped_db": "No mapping lists the database.",
    "rule_condition": "The condition of a rule was not true for the row.",
}


class Figure(NamedTuple):
    """A key figure with its unit and a note."""

    title: str
    value: str
    unit: str
    note: str


class LeftOut(NamedTuple):
    """The number of rows that were not published for one cause, with an explanation of the
    cause.
    """

    cause: str
    rows: int
    meaning: str


def sentence(facts: Facts, address: str, names: RelayNames, now_ms: int) -> str:
    """Return a sentence about the leading relay, the source, and the present state with its
    duration.

    address  `host:port` of the source; empty: unknown
    names    names of relay processes
    now_ms   present time in Unix milliseconds
    """
    view, period = facts.view, facts.period
    relay = names(view.relay).shown
    leads = (
        f"{relay} leads it"
        if view.relay_alive
        else f"No relay leads it; {relay} reported it last"
        if relay
        else "No relay has reported it"
    )
    reads = f" and reads {address}" if address and view.relay_alive else ""
    state = period.state.lower().replace("_", " ").capitalize()
    span = words.duration(max(0, now_ms - period.since_ms) / _MS)
    least = "" if period.exact else "at least "
    return f"{leads}{reads}. {state} for {least}{span}."


def figures(facts: Facts, lag_limit_s: float, now_ms: int) -> list[Figure]:
    """Return the key figures of an instance: lag, rate, rows, buffer, spool and dead letters.

    `lag_limit_s` is the lag in seconds above which an operator is needed.
    """
    view = facts.view
    waits = view.buffer_put - view.buffer_ack
    changed = (
        f"{words.duration(max(0, now_ms - view.execute_time) / _MS)} ago"
        if view.execute_time
        else "none yet"
    )
    return [
        Figure(
            "Lag",
            words.duration(view.lag_seconds if view.relay_alive else None),
            "",
            f"limit {words.duration(lag_limit_s)}",
        ),
        Figure("Rows published", words.number(facts.rate), "/s", f"last change {changed}"),
        Figure("Since the relay's start", words.number(view.published_rows), "rows", ""),
        Figure(
            "Buffer",
            words.size(view.buffer_bytes),
            "",
            f"{words.counted(max(0, waits), 'slot')} waiting",
        ),
        Figure("Spool", words.size(view.spool_bytes), "", view.spool or "not in use"),
        Figure("Dead letters", words.number(view.dead_letters), "", "since the relay's start"),
    ]


def left_out(facts: Facts) -> list[LeftOut]:
    """Return the number of rows that were not published since the relay's start, by cause.

    The most frequent cause is first.
    """
    found = sorted(facts.view.dropped_rows.items(), key=lambda each: (-each[1], each[0]))
    return [LeftOut(cause, rows, _CAUSES.get(cause, "")) for cause, rows in found]
