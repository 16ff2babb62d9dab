"""Every metric, declared once.

Names start with `roma_`; the label `instance` is the instance's name.
"""

from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.gc_collector import GCCollector
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from relay.threads import THREADS

_without_creation_times: Callable[[], None] = disable_created_metrics
_without_creation_times()  # each would add a series to every counter, and no alert rule uses it
REGISTRY: Final = CollectorRegistry()
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

ProcessCollector(registry=REGISTRY)
PlatformCollector(registry=REGISTRY)
GCCollector(registry=REGISTRY)

LABELS: Final[dict[str, tuple[str, ...]]] = {}
"""The label names of every metric of the relay, by the metric's name without `_total`."""

_INSTANCE: Final = ("instance",)
Metric = TypeVar("Metric", Counter, Gauge, Histogram)
OF_INSTANCES: Final[list[Counter | Gauge | Histogram]] = []
"""All metrics that have a label `instance`."""


def _counter(name: str, what: str, labels: tuple[str, ...] = _INSTANCE) -> Counter:
    return _kept(Counter(f"roma_{name}", what, labels, registry=REGISTRY), name, labels)


def _gauge(name: str, what: str, labels: tuple[str, ...] = _INSTANCE) -> Gauge:
    return _kept(Gauge(f"roma_{name}", what, labels, registry=REGISTRY), name, labels)


def _histogram(name: str, what: str, buckets: tuple[float, ...]) -> Histogram:
    return _kept(
        Histogram(f"roma_{name}", what, _INSTANCE, buckets=buckets, registry=REGISTRY),
        name,
        _INSTANCE,
    )


def _kept(metric: Metric, name: str, labels: tuple[str, ...]) -> Metric:
    LABELS[f"roma_{name}"] = labels
    if "instance" in labels:
        OF_INSTANCES.append(metric)
    return metric


class ThreadCounts(Collector):
    """The thread counts at the time of a scrape."""

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        """Yield the unexpected errors and the dead threads."""
        errors = CounterMetricFamily(
            "roma_unexpected_errors",
            "Unexpected errors, by thread and type",
            labels=["thread", "error"],
        )
        for (thread, error), number in THREADS.unexpected.items():
            errors.add_metric([thread, error], number)
        yield errors
        dead = len(THREADS.dead)
        yield GaugeMetricFamily(
            "roma_dead_threads", "Threads that ended by an error and were not replaced", value=dead
        )


SOURCE_ROWS: Final = _counter(
    "source_rows", "Row changes read from the source, before filters and mappings"
)
SOURCE_TRANSACTIONS: Final = _counter(
    "source_transactions", "Source transactions read to their end"
)
SOURCE_BYTES: Final = _counter(
    "source_bytes", "Bytes of row events read from the source, without headers and decompressed"
)
SOURCE_RECONNECTS: Final = _counter(
    "source_reconnects", "Connections to the source beyond the first"
)
PUBLISHED_ROWS: Final = _counter("published_rows", "Row changes visible in Kafka")
COPIED_ROWS: Final = _counter("snapshot_rows", "Rows of copied tables visible in Kafka")
PUBLISHED_MESSAGES: Final = _counter("published_messages", "Messages visible in Kafka")
PUBLISHED_BYTES: Final = _counter("published_bytes", "Bytes of message values visible in Kafka")
_OF_TABLE: Final = ("instance", "database", "table", "operation")
TABLE_ROWS: Final = _counter(
    "table_rows", "Row changes visible in Kafka, by logical table and operation", _OF_TABLE
)
TABLE_TRANSACTIONS: Final = _counter(
    "table_transactions",
    "Source transactions with such a change of the table visible in Kafka; none for copied rows",
    _OF_TABLE,
)
TABLE_BYTES: Final = _counter(
    "table_bytes", "Bytes of message values visible in Kafka, by table and operation", _OF_TABLE
)
DROPPED_ROWS: Final = _counter(
    "dropped_rows",
    "Row changes left out by filter, mapping, rule or transform",
    ("instance", "cause"),
)
PRINTED_ROWS: Final = _counter(
    "rows_printed",
    "Rows printed, by printer, and for the readable one by the reason why it was used",
    ("instance", "path", "reason"),
)
UNDECODABLE_VALUES: Final = _counter(
    "undecodable_values", "Values visible in Kafka with U+FFFD for bytes that are not characters"
)
LATE_TRANSACTIONS: Final = _counter(
    "late_transactions",
    "Transactions of a group that arrived too late for their position in the order",
)
DEAD_LETTERS: Final = _counter(
    "dead_letters",
    "Messages and rows stored as dead letters, by error code",
    ("instance", "code"),
)
CLAIMS: Final = _counter("claims", "Messages visible in Kafka whose value is stored elsewhere")
DROPPED_NAMES: Final = _gauge(
    "dropped_names", "Real tables left out by filter or mapping since the relay's start"
)
COMMITS: Final = _counter("kafka_commits", "Kafka transactions committed")
COMMIT_SECONDS: Final = _histogram(
    "kafka_commit_seconds",
    "Time from asking for a commit to its answer",
    (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 15),
)
PUBLISH_SECONDS: Final = _histogram(
    "commit_to_publish_seconds",
    (
        "Time from a commit on the source to its visibility in Kafka, of the oldest transaction of "
        "each Kafka transaction"
    ),
    (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 15, 60, 300, 1800),
)
ERRORS: Final = _counter(
    "errors",
    "Errors that ended or prevented a session of the instance, by code",
    ("instance", "code"),
)
ABORTS: Final = _counter(
    "kafka_aborts",
    "Kafka transactions aborted, by code",
    ("instance", "code"),
)
FENCES: Final = _counter("fences", "Times that Kafka fenced this relay's producer")
THROTTLED_SECONDS: Final = _counter(
    "throttled_seconds", "Time for which the instance read no rows because of its limits"
)
LAG_SECONDS: Final = _gauge(
    "lag_seconds",
    (
        "Seconds that the instance is behind: 0 while nothing waits at the source, NaN where "
        "another relay leads"
    ),
)
BUFFER_PUT: Final = _gauge(
    "buffer_put",
    "Cursor: slots put into the buffer since the source was last connected",
)
BUFFER_GET: Final = _gauge(
    "buffer_get",
    "Cursor: slots that the publisher took since the source was last connected",
)
BUFFER_ACK: Final = _gauge(
    "buffer_ack",
    "Cursor: slots committed in Kafka since the source was last connected",
)
BUFFER_BYTES: Final = _gauge("buffer_bytes", "Bytes of row events in the buffer")
PASSED_OVER: Final = _gauge(
    "sources_passed_over", "Sources of a group that do not answer while the others are read"
)
SPOOL_BYTES: Final = _gauge("spool_bytes", "Size of the spool on disk, in bytes")
SPOOL_AGE: Final = _gauge(
    "spool_age_seconds",
    "Time since the oldest event in the spool was read from the source; 0 while the spool is empty",
)
SPOOL_FULL: Final = _gauge("spool_full", "1 while the spool is full, and the source is not read")
STATE: Final = _gauge(
    "instance_state", "1 for the state that the instance is in", ("instance", "state")
)
EPOCH: Final = _gauge("epoch", "Rises when the instance reads another server or history")
MAPPING_SET: Final = _gauge("mapping_set", "Number of the active mapping set")
MAPPING_BROKEN: Final = _gauge(
    "mapping_broken", "1 while a newer mapping set is ignored because it is broken"
)
POSITION_FILE: Final = _gauge(
    "position_file_number", "Number of the binlog file of the committed position"
)
POSITION_OFFSET: Final = _gauge(
    "position_offset", "Offset of the committed position in its binlog file"
)
EXECUTE_TIME: Final = _gauge("execute_time_seconds", "Last published execute time, Unix seconds")
EXECUTE_TIME_MS: Final = _gauge(
    "execute_time_ms",
    "Older name of roma_execute_time_seconds, in milliseconds; the next version removes it",
)

# The label `source` is empty for an instance with one source; Prometheus treats an empty label as a
# missing one.
_ROLE: Final = ("instance", "source", "role")
SERVER_FOLLOWED: Final = _gauge(
    "source_server_followed", "1 for the server that the instance reads, master or standby", _ROLE
)
SERVER_ANSWERS: Final = _gauge(
    "source_server_answers", "1 while the server answers heartbeats", _ROLE
)
SERVER_BEHIND: Final = _gauge(
    "source_server_behind_transactions",
    "Published transactions that the server lacks; NaN without GTIDs",
    _ROLE,
)
SERVER_ERRANT: Final = _gauge(
    "source_server_errant",
    "1 while the server has errant transactions, which replication did not bring",
    _ROLE,
)
SOURCE_SWITCHES: Final = _counter("source_switches", "Switches of the source to another server")

STORE_CONNECTED: Final = _gauge("zookeeper_connected", "1 while ZooKeeper answers", ())
STORE_SESSIONS: Final = _gauge(
    "zookeeper_sessions",
    "ZooKeeper sessions since the start; more than one: ephemeral nodes were lost",
    (),
)
STORE_SESSION_TIMEOUT: Final = _gauge(
    "zookeeper_session_timeout_seconds",
    "ZooKeeper session timeout as the servers granted it",
    (),
)

CERTIFICATE_END: Final = _gauge(
    "certificate_end_seconds",
    "When a certificate that this process serves expires, Unix seconds",
    ("certificate",),
)
_WORKER: Final = ("worker",)
WORKER_UP: Final = _gauge(
    "worker_up", "1 while the worker process runs and answers its relay", _WORKER
)
WORKER_ENDS: Final = _counter(
    "worker_ends", "Times that a worker process ended although the relay did not stop it", _WORKER
)

LOG_LINES_LOST: Final = _counter(
    "log_lines_lost", "Log lines dropped because no process read them in time", ()
)

ADMIN_REQUESTS: Final = _counter(
    "admin_requests", "Requests to the admin", ("method", "route", "status")
)
ADMIN_SAVES: Final = _counter(
    "admin_mapping_saves", "Mapping saves and roll backs, by outcome", ("outcome",)
)

_CLIENT: Final = ("destination", "client_id")
CANAL_CONNECTIONS: Final = _gauge(
    "canal_server_connections", "Connections of Canal clients to this server", ()
)
CANAL_ROWS: Final = _counter(
    "canal_server_rows", "Rows and statements in delivered batches", ("destination",)
)
CANAL_BATCHES_OUT: Final = _gauge(
    "canal_server_batches_out", "Batches that a client has not acknowledged", _CLIENT
)
CANAL_LAG: Final = _gauge(
    "canal_server_lag_offsets",
    "Offsets that a client has not acknowledged, markers of Kafka transactions included",
    _CLIENT,
)
CANAL_REFUSED: Final = _counter(
    "canal_server_refused", "Requests and connections that were refused, by reason", ("reason",)
)


LABELS.update({"roma_unexpected_errors": ("thread", "error"), "roma_dead_threads": ()})
REGISTRY.register(ThreadCounts())


def render() -> bytes:
    """Return all metrics in Prometheus' text format."""
    return generate_latest(REGISTRY)
