"""One round: services of one kind read a load while each fault happens once, in a random order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Final

from tools.clients.faults import FAULTS
from tools.clients.judging import Verdict, history, judged
from tools.clients.service import Kind, applied
from tools.clients.shop import Shop, opened
from tools.faults.load import KEYS, held
from tools.faults.stage import Servers

_SERVICES: Final = 3
_BETWEEN_SECONDS: Final = 1.5
_SETTLED_ROWS: Final = 100
_TURNS_OF_A_FAULT: Final = 2
_EXCLUSIVE: Final[frozenset[Kind]] = frozenset({"exclusive", "transactions"})
_QUIET_SECONDS: Final = 3.0
_ROWS_OF_ONE: Final[dict[bool, frozenset[int]]] = {
    True: frozenset({3, KEYS}),
    False: frozenset({1}),
}
"""Rows of a transaction of the load; rows of a change."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a round.

    again   units of work that a new service received after all others had ended gracefully. All
            changes were acknowledged by then, so any number above 0 is wrong
    wrong   sentences about broken promises; empty for none
    fenced  services whose log shows a refused commit or lost partitions
    """

    kind: Kind
    seed: int
    seconds: float
    faults: tuple[str, ...]
    verdict: Verdict
    again: int
    fenced: int
    wrong: tuple[str, ...]

    def __str__(self) -> str:
        found = self.verdict
        result = f"WRONG: {' '.join(self.wrong)}" if self.wrong else "as promised"
        return (
            f"{self.kind}, seed {self.seed}, {self.seconds:.0f} s, {', '.join(self.faults)}: "
            f"{found.processed} rows, {found.lost} lost, {found.out_of_order} out of order, "
            f"{found.repeated} repeated, {found.turns} turns, {self.fenced} fenced: {result}"
        )


def run_round(
    servers: Servers, kind: Kind, seed: int, name: str, faults: Sequence[str] = tuple(FAULTS)
) -> Outcome:
    """Run a round. Raises AssertionError with logs if it does not end."""
    began = monotonic()
    with opened(servers, name, kind, seed) as shop:
        for _ in range(_SERVICES):
            shop.start_service()
        shop.wait_for_rows(_SETTLED_ROWS)
        done = _faults_happen(shop, faults)
        shop.run.load.end()
        wanted = history(held(shop.run.database, shop.run.name))
        shop.wait(lambda: wanted <= {tuple(r) for w in shop.works() for r in w.rows}, "all rows")
        shop.stop_services()
        verdict = judged(shop.works(), wanted, _ROWS_OF_ONE[kind == "transactions"])
        again = _delivered_again(shop)
        fenced = sum(each.is_fenced for each in shop.all_services)
        wrong = (*_wrong(shop, verdict, again, len(done)), *_not_fenced(kind, done, fenced))
        return Outcome(kind, seed, monotonic() - began, done, verdict, again, fenced, wrong)


def _faults_happen(shop: Shop, faults: Sequence[str]) -> tuple[str, ...]:
    possible = [each for each in faults if each != "edit" or shop.kind != "transactions"]
    order = shop.run.chance.sample(possible, len(possible))
    for each in order:
        shop.run.rest(0, _BETWEEN_SECONDS)
        FAULTS[each](shop)
    shop.wait_for_rows(_SETTLED_ROWS)
    return tuple(order)


def _delivered_again(shop: Shop) -> int:
    """Return how many units of work a service gets when all of them were acknowledged."""
    before = len(shop.works())
    shop.start_service()
    shop.run.rest(_QUIET_SECONDS)
    shop.stop_services()
    return len(shop.works()) - before


def _not_fenced(kind: Kind, faults: Sequence[str], fenced: int) -> Iterator[str]:
    """Yield a sentence if a client that was paused for long could have acknowledged something."""
    if kind in _EXCLUSIVE and "long-pause" in faults and not fenced:
        yield "No commit of a paused client was refused."


def _wrong(shop: Shop, verdict: Verdict, again: int, faults: int) -> list[str]:
    found = []
    if not verdict.clean:
        found.append(f"{verdict}.")
    if again:
        found.append(f"{again} acknowledged changes came again.")
    if shop.kind in _EXCLUSIVE and verdict.turns > _TURNS_OF_A_FAULT * faults:
        found.append(f"Exclusive clients were active in turn, {verdict.turns} times.")
    if shop.kind == "inbox":
        rows = applied(shop.file)
        if sorted(rows) != sorted(history(held(shop.run.database, shop.run.name))):
            found.append(f"The inboxes applied {len(rows)} changes.")
    return found
