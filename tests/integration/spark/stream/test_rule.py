"""The classic rule, case by case, through the MERGE: first one batch, then later ones with one
change for each case.
"""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_jobs.spark_util.batch_stats import BatchFigures
from tests.support.copies.spark_copies import apply, change, copy_of

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


@pytest.fixture(scope="module")
def later(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[BatchFigures, dict[str, str | None]]:
    """The figures of the second batch, and what the copy holds after all three."""
    root: Path = tmp_path_factory.mktemp("copies")

    def batch(*changes: tuple[str, int, str]) -> BatchFigures:
        return apply(
            spark,
            root,
            *(
                change("t", "DELETE" if n == "gone" else "UPDATE", key, order, id=key, n=n)
                for key, order, n in changes
            ),
        )

    batch(
        ("older", 20, "before"),
        ("newer", 20, "before"),
        ("equal", 20, "before"),
        ("deleted", 20, "gone"),
        ("acb", 100, "A"),
    )
    second = batch(
        ("none", 1, "new"),
        ("older", 19, "late"),
        ("newer", 21, "new"),
        ("equal", 20, "again"),
        ("deleted", 19, "late"),
        ("acb", 102, "C"),
    )
    batch(("acb", 101, "B"))
    return second, {key: row["n"] for key, row in copy_of(spark, root).items()}


def test_no_row_is_inserted(later: tuple[BatchFigures, dict[str, str | None]]) -> None:
    assert later[1]["none"] == "new"


def test_an_older_change_is_discarded(later: tuple[BatchFigures, dict[str, str | None]]) -> None:
    assert later[1]["older"] == "before"


def test_a_newer_change_is_applied(later: tuple[BatchFigures, dict[str, str | None]]) -> None:
    assert later[1]["newer"] == "new"


def test_an_equal_order_is_applied(later: tuple[BatchFigures, dict[str, str | None]]) -> None:
    assert later[1]["equal"] == "again"


def test_a_late_older_change_does_not_bring_a_deleted_row_back(
    later: tuple[BatchFigures, dict[str, str | None]],
) -> None:
    assert "deleted" not in later[1]


def test_changes_out_of_order_end_at_the_newest(
    later: tuple[BatchFigures, dict[str, str | None]],
) -> None:
    assert later[1]["acb"] == "C"


def test_the_figures_tell_winners_from_stale_changes(
    later: tuple[BatchFigures, dict[str, str | None]],
) -> None:
    assert (later[0].rows, later[0].keys, later[0].winners, later[0].stale) == (6, 6, 4, 2)
