"""All scenarios, by the program that has the fault."""

from tools.faults.scenarios import (
    broker,
    clock,
    cluster,
    commit,
    deliveries,
    kafka_line,
    relay,
    source,
    store,
    topic,
    zookeeper,
)

__all__ = [
    "broker",
    "clock",
    "cluster",
    "commit",
    "deliveries",
    "kafka_line",
    "relay",
    "source",
    "store",
    "topic",
    "zookeeper",
]

deliveries.list_variants()
