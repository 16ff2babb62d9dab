"""Makes and runs the fuzzer's inputs. An input depends only on the seed and its number, so that it
can be run again.
"""

import struct
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Final

from relay.errors import RelayError
from relay.model.change import RawRows
from tools.fuzz import targets
from tools.fuzz.limits import TooSlow, limited_memory, limited_time, restart
from tools.fuzz.seeds import Transaction, all_seeds

_WARMING_UP: Final = 200
FINDINGS: Final = (
    *(
        ArithmeticError,
        AssertionError,
        AttributeError,
        LookupError,
        MemoryError,
        OSError,
        RuntimeError,
        TypeError,
        ValueError,
    ),
    *(struct.error, zlib.error, TooSlow),
)
"""Exceptions that unexpected bytes cause in code without a check."""


@dataclass(slots=True)
class Outcomes:
    """The number of inputs by result, and the findings: number and error of each input."""

    counts: Counter[str] = field(default_factory=Counter)
    findings: list[tuple[int, str]] = field(default_factory=list)

    @property
    def inputs(self) -> int:
        """Return how many inputs were tried."""
        return self.counts.total()


class Fuzzer:
    """Makes inputs of one seed and feeds them to the decoder."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._seeds: tuple[Transaction, ...] = all_seeds()
        self._raw_rows: list[RawRows] = [
            raw for each in self._seeds for raw in targets.raw_rows_of(each)
        ]

    def feed(self, number: int) -> str:
        """Run one input; return a word for its result. Raises the exception of a finding."""
        rng = Random(f"{self._seed}-{number}")  # an input must be reproducible
        kind = rng.random()
        try:
            if kind < 0.6:
                return targets.rows(rng.choice(self._raw_rows), rng)
            if kind < 0.85:
                return targets.events(rng.choice(self._seeds), rng, self._seeds)
            return targets.stream(rng.choice(self._seeds), rng)
        except RelayError as refusal:
            return refusal.code

    def run(self, numbers: Iterable[int], at: Callable[[int], None] = lambda _: None) -> Outcomes:
        """Run inputs within their limits; `at` gets the number of each before it begins."""
        outcomes = Outcomes()
        with limited_time():
            for number in range(
                _WARMING_UP
            ):  # loads modules and fills caches of the decoder; its findings are found again
                restart()
                with suppress(*FINDINGS):
                    self.feed(number)
        with limited_memory(), limited_time():
            for number in numbers:
                at(number)
                restart()
                try:
                    outcomes.counts[self.feed(number)] += 1
                except FINDINGS:
                    outcomes.counts["FINDING"] += 1
                    outcomes.findings.append((number, traceback.format_exc()))
        return outcomes
