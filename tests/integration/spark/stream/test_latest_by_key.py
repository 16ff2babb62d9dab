"""The newest change of each key, compared with brute force over hundreds of small histories in one
DataFrame.
"""

from functools import reduce

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from relay.envelope import order_text
from spark_jobs.transforms import latest_by_key

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
BATCHES = 3

Change = tuple[str, str, bool, dict[str, str]]  # key, order, deleted, data
Arrival = tuple[int, int]  # which change, in which batch

history = st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), min_size=1, max_size=8).map(
    lambda changes: [
        (key, order_text(1, number), deleted, {"n": str(number)})
        for number, (key, deleted) in enumerate(changes, 1)
    ]
)


@st.composite
def arrivals(draw: st.DrawFn) -> tuple[list[Change], list[Arrival]]:
    """A history, and its changes in any order, some twice, cut into batches anywhere."""
    changes = draw(history)
    batch = st.integers(0, BATCHES - 1)
    once = [(number, draw(batch)) for number in draw(st.permutations(range(len(changes))))]
    twice = draw(st.lists(st.tuples(st.integers(0, len(changes) - 1), batch), max_size=4))
    return changes, once + twice


def brute_force(
    cases: list[tuple[list[Change], list[Arrival]]],
) -> dict[tuple[str, str], tuple[str, bool, dict[str, str]]]:
    newest: dict[tuple[str, str], tuple[str, bool, dict[str, str]]] = {}
    for number, (changes, _) in enumerate(cases):
        for key, order, deleted, data in changes:  # a history rises
            newest[(f"case{number}", key)] = (order, deleted, data)
    return newest


def batch_after_batch(arrived: DataFrame) -> DataFrame:
    """What stays when every batch is joined to the result of those before it."""
    batches = [arrived.where(f"batch = {number}").drop("batch") for number in range(BATCHES)]
    return reduce(
        lambda kept, batch: latest_by_key(kept.unionByName(latest_by_key(batch))),
        batches[1:],
        latest_by_key(batches[0]),
    )


@settings(
    max_examples=4,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
    database=None,
)
@given(cases=st.lists(arrivals(), min_size=60, max_size=120))
def test_the_result_depends_on_the_changes_alone(
    spark: SparkSession, cases: list[tuple[list[Change], list[Arrival]]]
) -> None:
    rows = [
        (f"case{number}", *changes[which], batch)
        for number, (changes, arrived) in enumerate(cases)
        for which, batch in arrived
    ]
    arrived = spark.createDataFrame(
        rows,
        (
            "table string, key string, order string, deleted boolean, data map<string,string>, "
            "batch int"
        ),
    )
    for result in (latest_by_key(arrived.drop("batch")), batch_after_batch(arrived)):
        found = {
            (row["table"], row["key"]): (row["order"], row["deleted"], row["data"])
            for row in result.collect()
        }
        assert found == brute_force(cases)
