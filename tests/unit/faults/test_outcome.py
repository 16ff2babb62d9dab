"""The page of many runs: a line for each scenario, and what the longest silence of it came from."""

from importlib import import_module

from tools.faults.outcome import Outcome, report

import_module("tools.faults.scenarios")  # each enters itself into the list

_SHORT = Outcome("relay-killed", 1, 100, 0, 0, 0, 2.0, 9.0, "killed five times")
_LONG = Outcome("relay-killed", 2, 50, 1, 2, 3, 4.0, 9.0, "slow to start")
_FAILED = Outcome(
    "relay-killed",
    3,
    0,
    0,
    0,
    0,
    9.0,
    9.0,
    "not to be told",
    "AssertionError: it never began\nmore",
)


def test_a_scenario_has_one_line_with_sums_and_the_longest_silence() -> None:
    (row,) = report([_SHORT, _LONG, _FAILED]).rows
    assert (row[0], *row[2:]) == (
        "relay-killed",
        "2 and 1 that failed",
        "150",
        "1",
        "2",
        "3",
        "3.0",
        "4.0",
    )


def test_the_longest_silence_and_what_failed_are_explained() -> None:
    notes = report([_SHORT, _LONG, _FAILED]).notes
    assert notes[-2:] == [
        "relay-killed, the longest silence (seed 2): slow to start.",
        "relay-killed, seed 3, FAILED: AssertionError: it never began",
    ]
