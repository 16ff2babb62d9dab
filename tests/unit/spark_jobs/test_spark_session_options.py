"""What the JVM of a job is told."""

import pytest

from spark_jobs.config.job import JobSettings, KafkaSource
from spark_jobs.runtime import spark_session

FIRST_ONLY = "-XX:TieredStopAtLevel=1"


@pytest.mark.parametrize(
    ("lasts", "own", "told"), [(False, "", True), (True, "", False), (True, FIRST_ONLY, True)]
)
def test_a_job_that_ends_by_itself_does_without_the_second_compiler(
    monkeypatch: pytest.MonkeyPatch, *, lasts: bool, own: str, told: bool
) -> None:
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.setattr(spark_session, "check_java", lambda: None)
    settings = JobSettings(
        kafka=KafkaSource(bootstrap_servers="b:1", topics=("t",)),
        copy_root="/copies",
        jvm_options=own,
    )
    options = spark_session.configuration(settings, lasts=lasts)[
        "spark.driver.extraJavaOptions"
    ].split()
    assert (FIRST_ONLY in options) is told


@pytest.mark.parametrize(
    "told",
    [
        "spark.delta.logStore.class",
        "spark.delta.logStore.file.impl",
        "spark.hadoop.delta.logStore.class",
    ],
)
def test_a_log_store_that_spark_was_told_is_left_alone(told: str) -> None:
    assert spark_session.local_log_store(["spark.master"]) == {
        "spark.delta.logStore.file.impl": "io.delta.storage.LocalLogStore"
    }
    assert spark_session.local_log_store(["spark.master", told]) == {}
