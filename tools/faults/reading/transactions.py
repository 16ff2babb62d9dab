"""Compares the transaction topic of a run with the rows that a consumer received."""

from collections import Counter
from typing import Any

from tests.support.rows.topic_reading import read_topic


def topic_of(name: str) -> str:
    """Return the transaction topic of the run with this name."""
    return f"{name}.transactions"


def disagreement(bootstrap: str, name: str) -> str:
    """Return where BEGIN, END and the rows of the run's topic differ, "" if they agree.

    Each transaction begins once and ends once, in this order, and its END counts the rows with its
    id.
    """
    reports = [each.value or {} for each in read_topic(bootstrap, topic_of(name))]
    rows: Counter[str] = Counter()
    for each in read_topic(bootstrap, name):
        rows[each.transaction] += len((each.value or {"data": ()})["data"])
    return _out_of_turn(reports) or _miscounted(reports, rows)


def _out_of_turn(reports: list[dict[str, Any]]) -> str:
    begins, ends = reports[::2], reports[1::2]
    for begin, end in zip(begins, ends, strict=False):
        if (begin["status"], end["status"], begin["id"]) != ("BEGIN", "END", end["id"]):
            return f"BEGIN and END do not alternate at {begin} and {end}"
    if len(begins) != len(ends):
        return f"the last transaction has no END: {begins[-1]}"
    twice = [each for each, times in Counter(each["id"] for each in ends).items() if times > 1]
    return f"transactions that ended twice: {twice[:3]}" if twice else ""


def _miscounted(reports: list[dict[str, Any]], rows: Counter[str]) -> str:
    counted = {each["id"]: each["event_count"] for each in reports[1::2]}
    wrong = [
        f"{each}: {counted.get(each)} counted, {rows[each]} seen"
        for each in counted.keys() | rows.keys()
        if counted.get(each) != rows[each]
    ]
    return f"{len(wrong)} transactions differ, {wrong[0]}" if wrong else ""
