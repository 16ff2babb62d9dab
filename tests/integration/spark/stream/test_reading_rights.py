"""The rights that docs/operations/kafka.md lists for readers are enough for a Spark job, on a
broker that gives no others.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession

from deploy.embedded import Kafka
from deploy.embedded.kafka_access import RIGHTS, allow
from deploy.embedded.processes.ports import HOST
from spark_jobs.config.job import KafkaSource
from spark_jobs.kafka.source import read_batch, topic_ids
from tests.support.certificates import Authority

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


def source_of(kafka: Kafka, authority: Authority) -> KafkaSource:
    """A job's login by SASL PLAIN, in the words of Kafka's Java client."""
    login = (
        'org.apache.kafka.common.security.plain.PlainLoginModule required username="job" '
        'password="pw";'
    )
    trust = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(authority.file)}
    client = {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", **trust}
    return KafkaSource.model_validate(
        {
            "bootstrap_servers": kafka.secure_bootstrap,
            "topics": ["shop"],
            "client": client,
            "jaas": login,
        }
    )


def test_describe_and_read_on_the_topic_are_enough(
    spark: SparkSession, new_kafka: Callable[..., Kafka], tmp_path: Path
) -> None:
    authority = Authority(tmp_path)
    kafka = new_kafka(RIGHTS, tls=authority.java_server(HOST), plain={"job": "pw"}, heap="512m")
    operators = AdminClient({"bootstrap.servers": kafka.bootstrap})
    operators.create_topics([NewTopic("shop", 2, 1)])["shop"].result(60)
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": "t"})
    producer.init_transactions(20)
    for value in ("committed", "given up"):
        producer.begin_transaction()
        producer.produce("shop", value)
        producer.flush(20)
        producer.commit_transaction(20) if value == "committed" else producer.abort_transaction(20)
    allow(kafka.bootstrap, "User:job", [("Describe", "topic", "shop"), ("Read", "topic", "shop")])

    source = source_of(kafka, authority)
    assert set(topic_ids(spark, source)) == {"shop"}
    assert [bytes(row["value"]) for row in read_batch(spark, source).collect()] == [b"committed"]
