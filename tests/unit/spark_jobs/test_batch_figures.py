from spark_jobs.spark_util.batch_stats import BatchFigures


def test_one_line_tells_all() -> None:
    figures = BatchFigures(
        rows=10,
        keys=5,
        winners=4,
        deletes=1,
        problems={"a": 2, "b": 1},
        lag_seconds=1.26,
        seconds=2,
    )
    assert (figures.put_aside, figures.stale) == (3, 3)
    assert (
        str(figures)
        == "10 rows in, 4 winners, 3 stale, 1 deletes, 3 put aside, lag 1.3 s, 2.0 s, 5 rows/s"
    )


def test_an_empty_batch_has_no_rate() -> None:
    assert "1 put aside, 2 truncated, 3 renames, lag" in str(
        BatchFigures(problems={"a": 1}, truncates=2, renames=3)
    )
    assert str(BatchFigures()).endswith("lag 0.0 s, 0.0 s, 0 rows/s")
