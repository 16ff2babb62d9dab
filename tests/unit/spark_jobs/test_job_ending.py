import pytest

from spark_jobs.runtime.shutdown import BatchRefused, Shutdown


def test_a_batch_that_runs_is_finished_and_the_next_is_refused() -> None:
    shutdown = Shutdown()
    with shutdown.batch():
        shutdown.request()
    with pytest.raises(BatchRefused), shutdown.batch():
        pytest.fail("a batch began after the end was asked for")


def test_without_a_request_batches_follow_each_other() -> None:
    shutdown = Shutdown()
    for _ in range(2):
        with shutdown.batch():
            assert not shutdown.requested
