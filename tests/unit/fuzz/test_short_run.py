"""Some thousand damaged events each time; `make fuzz` runs a million."""

import subprocess
import sys

import pytest

from relay.compiled import COMPILED
from tools.fuzz.children import fuzzed

_INPUTS = 15_000
# A run whose targets take no end of memory, take no end of time, and hang up: each must come out as
# a finding.
_UNRULY = """
from tools.fuzz import limits, run, targets
limits.CPU_SECONDS = 0.05
run._WARMING_UP = 9
def unruly(raw, rng):
    kind = rng.randrange(3)
    if kind == 0:
        return str(len(bytearray(2 * limits.MEMORY_BYTES)))
    while kind == 1:
        pass
    raise IndexError
targets.rows = unruly
outcomes = run.Fuzzer(1).run(range(40))
last = (what.strip().splitlines()[-1] for _, what in outcomes.findings)
print(*sorted({line.partition(":")[0].rpartition(".")[2] for line in last}))
"""


@pytest.mark.slow
def test_damaged_events_give_named_errors_or_rows_and_nothing_else() -> None:
    outcomes = fuzzed(20_251, _INPUTS)
    assert [what for _, what in outcomes.findings[:3]] == []
    assert outcomes.inputs == _INPUTS
    assert {
        "CORRUPT_EVENT",
        "SCHEMA_MISMATCH",
        "UNKNOWN_EVENT",
        "UNSUPPORTED_EVENT",
        "decoded",
    } <= set(outcomes.counts)
    assert ("printed" in outcomes.counts) == COMPILED


@pytest.mark.slow
def test_the_limits_bite() -> None:
    found = subprocess.run(
        [sys.executable, "-c", _UNRULY], capture_output=True, text=True, check=True, timeout=60
    )
    assert found.stdout.split() == ["IndexError", "MemoryError", "TooSlow"]
