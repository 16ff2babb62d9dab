import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from spark_jobs.errors import (
    BrokerRefused,
    BrokerUnreachable,
    HBaseUnreachable,
    JobError,
    JobFailed,
    MirrorRefused,
    OffsetsLost,
    SourceDriverMissing,
    TopicUnknown,
)
from spark_jobs.origin import source_borders
from spark_jobs.spark_util.error_translation import named_errors

LOST = (
    "[STREAM_FAILED] Query ended\n=== Streaming Query ===\n[KAFKA_DATA_LOSS.INITIAL_OFFSET] Some "
    "data may have been lost. SQLSTATE: 22000"
)
TIMES_OUT = (
    "java.util.concurrent.ExecutionException: org.apache.kafka.common.errors.TimeoutException: "
    "Timed out waiting for a node."
)
UNKNOWN = (
    "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: This server does not host "
    "this topic-partition."
)
LOGIN = (
    "org.apache.kafka.common.errors.SaslAuthenticationException: Authentication failed: bad "
    "password."
)
NO_RIGHT = (
    "org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized to access topics: "
    "[shop]"
)


@pytest.mark.parametrize(
    ("text", "leaf", "sentence"),
    [
        (
            LOST,
            OffsetsLost,
            (
                "has not read (shop at k:9092). Kafka reports: "
                "[KAFKA_DATA_LOSS.INITIAL_OFFSET] Some data may have been lost."
            ),
        ),
        (
            TIMES_OUT,
            BrokerUnreachable,
            (
                "No broker answers (shop at k:9092). Kafka reports: Timed out waiting for a "
                "node. Check "
            ),
        ),
        (
            UNKNOWN + "\n" + TIMES_OUT,
            TopicUnknown,
            "A topic does not exist (shop at k:9092). Kafka reports: This server does not host",
        ),
        (
            LOGIN + "\n" + TIMES_OUT,
            BrokerRefused,
            (
                "The broker refuses the job (shop at k:9092). Kafka reports: Authentication "
                "failed: bad password."
            ),
        ),
        (
            NO_RIGHT,
            BrokerRefused,
            "Kafka reports: Not authorized to access topics: [shop]. Check kafka.client",
        ),
        (
            "at org.apache.Foo\n  java.lang.OutOfMemoryError: Java heap space",
            JobFailed,
            "Spark ended the job (shop at k:9092): java.lang.OutOf",
        ),
        (
            (
                f"{UNKNOWN}\n  raise X\nspark_jobs.errors.HBaseUnreachable: HBase does not answer "
                f"through the gateway at h:9090: x. {HBaseUnreachable.remedy}"
            ),
            HBaseUnreachable,
            "HBase does not answer through the gateway at h:9090: x. Check hbase.thrift",
        ),
        (
            (
                f"{HBaseUnreachable.__module__}.HBaseUnreachable: HBase is down. "
                f"{HBaseUnreachable.remedy}"
            ),
            HBaseUnreachable,
            "HBase is down. Check hbase.thrift",
        ),
        ("spark_jobs.errors.JobThatNobodyKnows: x", JobFailed, "JobThatNobodyKnows"),
    ],
)
def test_the_most_telling_cause_gives_the_name(
    text: str, leaf: type[JobError], sentence: str
) -> None:
    with pytest.raises(JobError) as caught, named_errors("shop at k:9092"):
        raise Py4JError(text)
    assert type(caught.value) is leaf
    assert sentence in str(caught.value)


def test_a_cause_of_a_cause_is_found() -> None:
    failure = PySparkException("the query failed")
    failure.__cause__ = Py4JError(UNKNOWN)
    with pytest.raises(TopicUnknown), named_errors("shop"):
        raise failure


def test_what_the_mirror_says_is_not_told_of_a_source() -> None:
    text = (
        "spark_jobs.errors.MirrorRefused: The server of the copies says: Access denied for user "
        "'x'@'y' (1045)."
    )
    with (
        pytest.raises(MirrorRefused, match="server of the copies"),
        named_errors("shop"),
        source_borders(),
    ):
        raise Py4JError(text)


def test_a_missing_driver_is_named_with_the_way_to_get_it() -> None:
    with (
        pytest.raises(SourceDriverMissing, match="mariadb-java-client"),
        named_errors("shop"),
        source_borders(),
    ):
        raise Py4JError(
            "An error occurred while calling o1.load.\n: java.lang.ClassNotFoundException: "
            "org.mariadb.jdbc.Driver\n\tat x"
        )


def test_what_is_not_sparks_passes() -> None:
    with pytest.raises(KeyError), named_errors("shop"):
        raise KeyError("x")
