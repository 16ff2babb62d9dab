"""Checking documents on behalf of a client is bounded, however little text they take."""

import json
from collections.abc import Callable
from time import process_time

import pytest

from relay.route import DBS, MOST_STEPS, TBS, Effort, problems
from tests.unit.route.mappings import documents

TOPIC = [{"logicDb": "d", "topic": "t"}]


def numbered(form: str, count: int) -> str:
    return ",".join(form.format(number) for number in range(count))


def many_expressions() -> dict[str, str]:
    return documents(
        dbs=[{"logicDb": "d", "realDbs": "r"}],
        tbs=[
            {"logicTb": "a", "realTbs": numbered("n{}", 20_000)},
            {"logicTb": "b", "realTbs": numbered("/e{}+/", 2000)},
        ],
        topics=TOPIC,
    )


def long_expressions() -> dict[str, str]:
    return documents(
        dbs=[
            {
                "logicDb": "d",
                "realDbs": numbered("/\\p{{0}}{}[\\w]{{250}}/", 500).replace("\\p{0}", "x"),
            }
        ],
        topics=TOPIC,
    )


def refused_expressions() -> dict[str, str]:
    return documents(
        dbs=[{"logicDb": "d", "realDbs": numbered("/{}[\\w]{{900}}/", 500)}], topics=TOPIC
    )


def one_name_under_many() -> dict[str, str]:
    return documents(dbs=[{"logicDb": f"d{number}", "realDbs": "a"} for number in range(10_000)])


def one_table_in_many_databases() -> dict[str, str]:
    dbs = [{"logicDb": "d", "realDbs": numbered("r{}", 2000)}]
    return documents(
        dbs=dbs,
        tbs=[{"logicTb": f"a{number}", "realTbs": f"/r{number}/.x"} for number in range(2000)],
        topics=TOPIC,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "made",
    [
        many_expressions,
        long_expressions,
        refused_expressions,
        one_name_under_many,
        one_table_in_many_databases,
    ],
)
@pytest.mark.parametrize(
    ("steps", "seconds"),
    [(MOST_STEPS // 4, 4), pytest.param(MOST_STEPS, 15, marks=pytest.mark.long)],
)
def test_a_check_ends_by_name(
    made: Callable[[], dict[str, str]], steps: int, seconds: float
) -> None:
    begun = process_time()
    found = problems(made(), effort=Effort(steps))
    assert f"more than {steps} steps" in found[-1].sentence
    assert process_time() - begun < seconds


def test_tables_of_many_databases_are_checked_in_a_moment() -> None:
    dbs = [{"logicDb": "d", "realDbs": numbered("r{}", 1000)}]
    tbs = [{"logicTb": f"a{number}", "realTbs": f"r{number}.x"} for number in range(1000)]
    begun = process_time()
    assert problems(documents(dbs=dbs, tbs=tbs, topics=TOPIC), effort=Effort(MOST_STEPS)) == []
    assert process_time() - begun < 10


def test_without_a_limit_everything_is_checked() -> None:
    assert (
        len(
            problems(
                one_name_under_many()
                | {DBS: json.dumps([{"logicDb": f"d{n}", "realDbs": "a"} for n in range(50)])}
            )
        )
        > 1000
    )


@pytest.mark.parametrize(
    "text", ["[" + "1," * 100_000 + "1]", json.dumps([{"logicTb": "a", "realTbs": [1] * 100_000}])]
)
def test_broken_entries_are_listed_up_to_a_count(text: str) -> None:
    assert len(problems({TBS: text})) <= 1000
