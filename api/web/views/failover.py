"""Computes the data of the failover page: which server each source reads, and whether another could
be read.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from api.models.failover import FailoverAnswer, ServerAnswer, SourceFailoverAnswer
from api.web import words

Mark = Literal["yes", "wait", "no", "none"]


class Verdict(NamedTuple):
    """A mark and a sentence that say whether the other server could be read."""

    mark: Mark
    text: str


class Step(NamedTuple):
    """One step of the proof: a sentence, and whether it is true, false or unknown (None)."""

    text: str
    holds: bool | None


@dataclass(frozen=True, slots=True)
class Row:
    """One source of an instance in the list of sources.

    verdict      whether the other server could be read instead
    behind       transactions that the other server lacks, as text
    orders       the operators' orders in effect, as text
    switched_ms  time of the last switch in Unix milliseconds
    """

    instance: str
    source: str
    followed: ServerAnswer | None
    other: ServerAnswer | None
    verdict: Verdict
    behind: str
    orders: str
    switched_ms: int


_ABOUT: Final = (
    "Shows which database server each instance reads, and whether it can switch to the other one."
)
NO_STANDBY: Final = Verdict("none", "No standby")


def sources(answer: FailoverAnswer) -> list[SourceFailoverAnswer]:
    """Return the sources of an instance: those of a group, or its only one."""
    return list(answer.sources) or [answer]


def rows(answers: Iterable[FailoverAnswer]) -> list[Row]:
    """Return a row for every source in `answers`: first those that cannot switch now, last those
    without a standby.
    """
    found = [_row(each, source) for each in answers for source in sources(each)]
    order = {"wait": 0, "no": 1, "yes": 2, "none": 3}
    return sorted(found, key=lambda row: (order[row.verdict.mark], row.instance, row.source))


def sentence(found: list[Row]) -> str:
    """Return the text at the top of the page: what it shows, and how many of the sources in `found`
    could switch now.
    """
    if not found:
        return _ABOUT
    paired = [each for each in found if each.other is not None]
    able = sum(each.verdict.mark == "yes" for each in paired)
    return (
        f"{_ABOUT} {len(paired)} of {words.counted(len(found), 'source')} "
        f"{'has' if len(paired) == 1 else 'have'} another server; {able} could switch now."
    )


def other(source: SourceFailoverAnswer) -> ServerAnswer | None:
    """Return the server of a source that is not read now; None if the source has only one
    server.
    """
    return next((each for each in source.servers if each.role != source.followed), None)


def verdict(server: ServerAnswer | None) -> Verdict:
    """Return whether a server could be read instead of the present one, and the reason if not.

    `server` is None for a source without a standby.
    """
    if server is None:
        return NO_STANDBY
    proof = server.proof
    if not proof.answers:
        return Verdict("no", "No: it does not answer")
    if proof.has_published is None:
        return Verdict("no", "No: not provable without GTIDs")
    if not proof.holds_binlog:
        return Verdict("no", "No: it has purged unpublished transactions")
    if not proof.has_published:
        return Verdict("wait", "Not yet: published transactions are missing")
    if not proof.same_history:
        return Verdict("yes", "Yes: the relay will also publish what was written on it directly")
    return Verdict("yes", "Yes: it has every published transaction")


def proof(server: ServerAnswer) -> list[Step]:
    """Return the steps of the proof as sentences."""
    known = server.proof
    lacks = (
        f"Missing: {words.counted(server.behind, 'published transaction')}.{_catch_up(server)}"
        if server.behind > 0
        else "It has every published transaction."
    )
    return [
        Step("It answers.", known.answers),
        Step(
            "Its binlog still has every transaction that is not published yet.", known.holds_binlog
        ),
        Step(
            "It has no transaction that was written on it directly (errant GTID).",
            known.same_history,
        ),
        Step(lacks, known.has_published),
    ]


def _catch_up(server: ServerAnswer) -> str:
    rate, left_s = server.catch_up_per_second, server.catch_up_seconds
    if rate is None:
        return ""
    if left_s is None:
        return " The number does not decrease."
    return f" The number decreases by {rate:,.1f} a second: about {words.duration(left_s)} left."


def _row(answer: FailoverAnswer, source: SourceFailoverAnswer) -> Row:
    standby = other(source)
    followed = next((each for each in source.servers if each.role == source.followed), None)
    behind = "\N{EN DASH}" if standby is None else "unknown"
    if standby is not None and standby.behind >= 0:
        behind = words.number(standby.behind)
    return Row(
        answer.instance,
        source.source,
        followed,
        standby,
        verdict(standby),
        behind,
        _orders(source),
        source.history[0].at_ms if source.history else 0,
    )


def _orders(source: SourceFailoverAnswer) -> str:
    orders = source.orders
    parts = [
        f"switches held by {orders.by}" if orders.hold else "",
        f"switch to the {orders.switch_to} ordered by {orders.by}" if orders.switch_to else "",
        f"loss accepted by {orders.accepted_by}" if orders.accepted else "",
    ]
    return ", ".join(part for part in parts if part)
