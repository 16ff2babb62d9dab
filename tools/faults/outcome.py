"""The outcome of a run, and the table of several."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, Final

from tools.bench.measuring.report import Report
from tools.faults.reading.tally import Counts
from tools.faults.scenario import SCENARIOS

TITLE: Final = "The relay under faults"
_HEAD: Final = (
    "scenario",
    "what happens",
    "runs",
    "changes",
    "lost",
    "repeated",
    "out of order",
    "silence, median s",
    "longest s",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one run; `failure` is the error that ended it early, "" for none.

    `silence_s` is the longest time without a new row.
    """

    scenario: str
    seed: int
    seen: int
    lost: int
    repeated: int
    out_of_order: int
    silence_s: float
    seconds: float
    note: str = ""
    failure: str = ""

    @property
    def clean(self) -> bool:
        """Return True if the run ended, and no change was lost, repeated or out of order."""
        return not (self.failure or self.lost or self.repeated or self.out_of_order)


def outcome(
    name: str, seed: int, counts: Counts, silence_s: float, seconds: float, note: str
) -> Outcome:
    """Return the outcome of a run that was completed."""
    return Outcome(
        name,
        seed,
        counts.seen,
        counts.lost,
        counts.repeated,
        counts.out_of_order,
        round(silence_s, 2),
        round(seconds, 1),
        note,
    )


def report(outcomes: Sequence[Outcome]) -> Report:
    """Return a table with a line for each scenario, in the order of the list."""
    rows = [_line(name, [each for each in outcomes if each.scenario == name]) for name in SCENARIOS]
    return Report(
        TITLE,
        _HEAD,
        [row for row in rows if row],
        _notes(outcomes),
        [asdict(each) for each in outcomes],
    )


def outcomes_of(measured: Iterable[dict[str, Any]]) -> list[Outcome]:
    """Read the outcomes of a written report."""
    return [Outcome(**each) for each in measured]


def _line(name: str, runs: Sequence[Outcome]) -> Sequence[str]:
    ended = [each for each in runs if not each.failure]
    if not runs:
        return ()
    counted = [
        sum(each.seen for each in ended),
        sum(each.lost for each in ended),
        sum(each.repeated for each in ended),
    ]
    numbers = [*counted, sum(each.out_of_order for each in ended)]
    silences = [each.silence_s for each in ended] or [float("nan")]
    failed = len(runs) - len(ended)
    count = f"{len(ended)}" + (f" and {failed} that failed" if failed else "")
    return (
        name,
        SCENARIOS[name].what,
        count,
        *map(str, numbers),
        f"{median(silences):.1f}",
        f"{max(silences):.1f}",
    )


def _notes(outcomes: Sequence[Outcome]) -> list[str]:
    return [
        *_WORDS,
        *(
            f"{each.scenario}, the longest silence (seed {each.seed}): {each.note}."
            for each in _longest(outcomes)
            if each.note
        ),
        *(
            f"{each.scenario}, seed {each.seed}, FAILED: {each.failure.splitlines()[0]}"
            for each in outcomes
            if each.failure
        ),
    ]


def _longest(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return the run of each scenario with the longest time without rows."""
    longest: dict[str, Outcome] = {}
    for each in outcomes:
        if not each.failure and each.silence_s >= longest.setdefault(each.scenario, each).silence_s:
            longest[each.scenario] = each
    return [longest[name] for name in SCENARIOS if name in longest]


_WORDS: Final = (
    (
        "The load is about 1 000 changes a second. The changes that a `read_committed` consumer "
        "received are compared with the table at the end."
    ),
    (
        "Lost, repeated and out of order are sums over the runs. Silence is the longest time "
        "without a new row. It includes the duration of the fault, and delays by other programs "
        "on the machine."
    ),
    (
        "A deleted topic loses its rows. In that scenario the changes are those after the "
        "deletion, which must continue exactly where the earlier ones ended."
    ),
)
