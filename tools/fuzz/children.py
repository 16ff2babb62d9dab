"""Runs inputs in child processes: after a crash or hang the next child continues with the next
input.
"""

import mmap
import struct
import tempfile
from collections import Counter
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import monotonic
from typing import Final

from tools.fuzz.run import Fuzzer, Outcomes

INPUTS_OF_A_CHILD: Final = 50_000
_MOST_FINDINGS: Final = 50
_NUMBER: Final = struct.Struct("<q")
_POLL_SECONDS: Final = 1.0
_SILENCE_SECONDS: Final = 60.0
"""Seconds; an input that takes longer, even on a busy machine, hangs in code that signals do not
interrupt.
"""


def fuzzed(
    seed: int, inputs: int, heard: Callable[[Outcomes], object] = lambda _: None
) -> Outcomes:
    """Run inputs 0 to `inputs`, or until the limit of findings.

    After each child, `heard` is called with all outcomes up to then.
    """
    total, first = Outcomes(), 0
    while first < inputs and len(total.findings) < _MOST_FINDINGS:
        part, first = _in_child(seed, first, min(first + INPUTS_OF_A_CHILD, inputs))
        total.counts += part.counts
        total.findings += part.findings
        heard(total)
    return total


def _in_child(seed: int, first: int, last: int) -> tuple[Outcomes, int]:
    """Return the outcomes of the inputs from `first` on, and the number after the last input."""
    with tempfile.TemporaryDirectory(prefix="roma-fuzz-") as folder:
        place = Path(folder) / "number"
        place.write_bytes(_NUMBER.pack(first))
        mine, theirs = get_context("spawn").Pipe(duplex=False)
        child = get_context("spawn").Process(
            target=_child, args=(seed, first, last, str(place), theirs), name="fuzz"
        )
        child.start()
        theirs.close()
        found = _answer(mine, child, place.read_bytes)
        if found is not None:
            return found, last
        (number,) = _NUMBER.unpack(place.read_bytes())
        how = (
            f"The process ended with {child.exitcode}, without an answer; -9: it was silent for "
            f"{_SILENCE_SECONDS:g} s."
        )
        return Outcomes(Counter({"FINDING": 1}), [(number, how)]), number + 1


def _answer(mine: Connection, child: BaseProcess, progress: Callable[[], bytes]) -> Outcomes | None:
    """Return the child's outcomes; None if it crashed or no input ended in time. The child has then
    ended.
    """
    moved_at, last = monotonic(), b""
    try:
        while not wait([mine], _POLL_SECONDS):
            if (now := progress()) != last:
                moved_at, last = monotonic(), now
            elif monotonic() - moved_at > _SILENCE_SECONDS:
                child.kill()
                return None
        outcomes: Outcomes = mine.recv()
        return outcomes
    except EOFError:
        return None
    finally:
        child.join()
        mine.close()


def _child(seed: int, first: int, last: int, place: str, theirs: Connection) -> None:
    with Path(place).open("r+b") as file, mmap.mmap(file.fileno(), _NUMBER.size) as shared:
        outcomes = Fuzzer(seed).run(
            range(first, last), lambda number: _NUMBER.pack_into(shared, 0, number)
        )
        theirs.send(outcomes)
        theirs.close()
