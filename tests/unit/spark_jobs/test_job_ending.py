import pytest

from spark_jobs.runtime.shutdown import BatchRefused, Ending


def test_a_batch_that_runs_is_finished_and_the_next_is_refused() -> None:
    ending = Ending()
    with ending.batch():
        ending.request()
    with pytest.raises(BatchRefused), ending.batch():
        pytest.fail("a batch began after the end was asked for")


def test_without_a_request_batches_follow_each_other() -> None:
    ending = Ending()
    for _ in range(2):
        with ending.batch():
            assert not ending.requested
