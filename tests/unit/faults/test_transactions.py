"""The comparison of a run's transaction topic with the rows that were seen."""

from typing import Any

import pytest

from tests.support.rows.topic_reading import Seen
from tools.faults.reading import transactions

FIRST: list[dict[str, Any]] = [
    {"status": "BEGIN", "id": "a"},
    {"status": "END", "id": "a", "event_count": 2},
]
SECOND: list[dict[str, Any]] = [
    {"status": "BEGIN", "id": "b"},
    {"status": "END", "id": "b", "event_count": 1},
]


@pytest.mark.parametrize(
    ("reports", "rows", "said"),
    [
        (FIRST + SECOND, "aab", ""),
        (FIRST, "a", "1 transactions differ, a: 2 counted, 1 seen"),
        (FIRST, "aab", "1 transactions differ, b: None counted, 1 seen"),
        (FIRST + SECOND, "aa", "1 transactions differ, b: 1 counted, 0 seen"),
        (FIRST + SECOND[:1], "aa", "the last transaction has no END"),
        (FIRST + FIRST, "aa", "transactions that ended twice: ['a']"),
        ([FIRST[0], SECOND[0], FIRST[1], SECOND[1]], "aab", "BEGIN and END do not alternate"),
    ],
)
def test_what_does_not_agree_is_named(
    monkeypatch: pytest.MonkeyPatch, reports: list[dict[str, Any]], rows: str, said: str
) -> None:
    topics = {
        transactions.topic_of("run"): [Seen(0, 0, None, "", (), each) for each in reports],
        "run": [Seen(0, 0, None, "", (), {"data": [{}]}, transaction=each) for each in rows],
    }
    monkeypatch.setattr(transactions, "read_topic", lambda _bootstrap, topic: topics[topic])
    found = transactions.disagreement("", "run")
    assert found.startswith(said)
    assert bool(found) == bool(said)
