"""Into how many files a region's rows go."""

import pytest

from spark_jobs.hbase.java_files import pieces_of_a_region


@pytest.mark.parametrize(
    ("regions", "writers", "pieces"), [(1, 4, 4), (3, 4, 2), (4, 4, 1), (100, 4, 1)]
)
def test_all_writers_have_something_to_write(regions: int, writers: int, pieces: int) -> None:
    assert pieces_of_a_region(regions, writers) == pieces
    assert regions * pieces >= writers
