"""The dashboard of a whole installation: first the figures that need an operator, then totals."""

from typing import Final

from deploy.dashboards.panels import Dashboard, Panel, Query

_WIDTH_OF_STAT: Final = 4

INSTALLATION: Final = Dashboard(
    uid="roma-installation",
    title="Roma relay: installation",
    description="All instances and relays of one installation.",
    panels=(
        Panel(
            "Stopped instances",
            "Instances that publish nothing until an operator acts. `roma status` names reason "
            "and remedy.",
            "none",
            (
                Query(
                    'count(max by (instance) (roma_instance_state{state="STOPPED"} == 1) unless '
                    'on (instance) (roma_instance_state{state="RUNNING"} == 1)) or vector(0)'
                ),
            ),
            _WIDTH_OF_STAT,
            "stat",
            red_above=1,
        ),
        Panel(
            "Running instances",
            "Instances that a relay publishes now.",
            "none",
            (
                Query(
                    'count(count by (instance) (roma_instance_state{state="RUNNING"} == 1)) or '
                    "vector(0)"
                ),
            ),
            _WIDTH_OF_STAT,
            "stat",
        ),
        Panel(
            "Relays that answer",
            "Relay processes that Prometheus reaches.",
            "none",
            (Query('sum(up{job="roma-relay"})'),),
            _WIDTH_OF_STAT,
            "stat",
        ),
        Panel(
            "Greatest lag",
            "Of all instances. Paused instances are left out.",
            "s",
            (
                Query(
                    "max(max by (instance) (roma_lag_seconds >= 0) unless on (instance) "
                    '(roma_instance_state{state="PAUSED"} == 1))'
                ),
            ),
            _WIDTH_OF_STAT,
            "stat",
            red_above=60,
        ),
        Panel(
            "Dead letters, last 24 h",
            "Messages and rows that no topic accepted. `roma dead-letter list` shows them.",
            "none",
            (Query("sum(increase(roma_dead_letters_total[24h])) or vector(0)"),),
            _WIDTH_OF_STAT,
            "stat",
            red_above=1,
        ),
        Panel(
            "Processes without ZooKeeper",
            "Relays and admins that ZooKeeper does not answer. Running instances continue; none "
            "is taken over.",
            "none",
            (Query("count(roma_zookeeper_connected == 0) or vector(0)"),),
            _WIDTH_OF_STAT,
            "stat",
            red_above=1,
        ),
        Panel(
            "Rows read and published",
            "Reading above publishing for long: the lag grows.",
            "ops",
            (
                Query("sum(rate(roma_source_rows_total[$__rate_interval]))", "read"),
                Query("sum(rate(roma_published_rows_total[$__rate_interval]))", "published"),
            ),
        ),
        Panel(
            "Lag, the ten greatest",
            "Seconds that an instance is behind its source.",
            "s",
            (Query("topk(10, max by (instance) (roma_lag_seconds >= 0))", "{{instance}}"),),
        ),
        Panel(
            "Bytes published",
            "Bytes of message values that are visible in Kafka, by instance.",
            "Bps",
            (
                Query(
                    "topk(10, sum by (instance) "
                    "(rate(roma_published_bytes_total[$__rate_interval])))",
                    "{{instance}}",
                ),
            ),
        ),
        Panel(
            "Kafka commit, 99th percentile",
            "Time from asking for a commit to its answer. Slow commits delay all rows.",
            "s",
            (
                Query(
                    "histogram_quantile(0.99, sum by (le) "
                    "(rate(roma_kafka_commit_seconds_bucket[$__rate_interval])))",
                    "99th percentile",
                ),
                Query(
                    "histogram_quantile(0.5, sum by (le) "
                    "(rate(roma_kafka_commit_seconds_bucket[$__rate_interval])))",
                    "median",
                ),
            ),
        ),
        Panel(
            "Kafka transactions given up",
            "By the code of what ended them. The rows are read and published again.",
            "ops",
            (
                Query(
                    "sum by (code) (rate(roma_kafka_aborts_total[$__rate_interval]))",
                    "{{code}}",
                    quiet=True,
                ),
            ),
        ),
        Panel(
            "Unexpected errors and dead threads",
            "Each is a bug: report it with the log.",
            "none",
            (
                Query(
                    "sum by (thread, error) (increase(roma_unexpected_errors_total[1h]))",
                    "{{thread}} {{error}}",
                    quiet=True,
                ),
                Query("sum(roma_dead_threads)", "dead threads"),
            ),
        ),
        Panel(
            "Memory of each process",
            "Resident memory of relays and admins.",
            "bytes",
            (
                Query(
                    'process_resident_memory_bytes{job=~"roma-.*"}',
                    "{{job}} {{instance}} {{worker}}",
                ),
            ),
        ),
        Panel(
            "Requests to the admin",
            "By status; 5xx means that ZooKeeper, Kafka or a source did not answer.",
            "ops",
            (
                Query(
                    "sum by (status) (rate(roma_admin_requests_total[$__rate_interval]))",
                    "{{status}}",
                ),
            ),
        ),
    ),
)
