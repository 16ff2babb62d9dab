"""The dashboard of chosen instances."""

from typing import Final

from deploy.dashboards.panels import Dashboard, Panel, Query

_CHOSEN: Final = '{instance=~"$instance"}'
_PER_SECOND: Final = "[$__rate_interval]"


def _rate(metric: str, labels: str = "") -> str:
    """Return the rate of a counter per second, for each instance and the further labels."""
    by = f"instance, {labels}" if labels else "instance"
    return f"sum by ({by}) (rate({metric}{_CHOSEN}{_PER_SECOND}))"


def _quantile(share: float, metric: str) -> str:
    return (
        f"histogram_quantile({share}, sum by (instance, le) "
        f"(rate({metric}_bucket{_CHOSEN}{_PER_SECOND})))"
    )


INSTANCE: Final = Dashboard(
    uid="roma-instance",
    title="Roma relay: instance",
    description="State, lag, flow, commits and source servers of chosen instances.",
    variable="roma_instance_state",
    panels=(
        Panel(
            "State",
            "The state on each relay. RUNNING on one relay and STANDBY on the others is normal.",
            "none",
            (Query(f"roma_instance_state{_CHOSEN} == 1", "{{instance}} {{state}}"),),
            24,
            "state-timeline",
        ),
        Panel(
            "Lag",
            "Seconds behind the source. It grows by one each second while nothing is published.",
            "s",
            (Query(f"max by (instance) (roma_lag_seconds{_CHOSEN} >= 0)", "{{instance}}"),),
            red_above=60,
        ),
        Panel(
            "Rows",
            "Row changes read from the source, visible in Kafka, and left out.",
            "ops",
            (
                Query(_rate("roma_source_rows_total"), "{{instance}} read"),
                Query(_rate("roma_published_rows_total"), "{{instance}} published"),
                Query(
                    _rate("roma_dropped_rows_total", "cause"),
                    "{{instance}} left out: {{cause}}",
                    quiet=True,
                ),
            ),
        ),
        Panel(
            "Transactions and Kafka commits",
            "Source transactions per second, and the Kafka transactions that carry them.",
            "ops",
            (
                Query(_rate("roma_source_transactions_total"), "{{instance}} source"),
                Query(_rate("roma_kafka_commits_total"), "{{instance}} Kafka"),
            ),
        ),
        Panel(
            "Bytes",
            "Bytes of row events read, and of message values published.",
            "Bps",
            (
                Query(_rate("roma_source_bytes_total"), "{{instance}} read"),
                Query(_rate("roma_published_bytes_total"), "{{instance}} published"),
            ),
        ),
        Panel(
            "Rows by table",
            "The ten busiest logical tables. `(other)` is all tables beyond `status.tables`.",
            "ops",
            (
                Query(
                    f"topk(10, {_rate('roma_table_rows_total', 'database, table, operation')})",
                    "{{database}}.{{table}} {{operation}}",
                    quiet=True,
                ),
            ),
        ),
        Panel(
            "Bytes by table",
            "Bytes of message values of the ten logical tables with the most.",
            "Bps",
            (
                Query(
                    f"topk(10, {_rate('roma_table_bytes_total', 'database, table')})",
                    "{{database}}.{{table}}",
                    quiet=True,
                ),
            ),
        ),
        Panel(
            "Source transactions by table",
            "The ten logical tables that most source transactions change, by operation.",
            "ops",
            (
                Query(
                    "topk(10, "
                    f"{_rate('roma_table_transactions_total', 'database, table, operation')})",
                    "{{database}}.{{table}} {{operation}}",
                    quiet=True,
                ),
            ),
        ),
        Panel(
            "Kafka commit",
            "Time from asking for a commit to its answer.",
            "s",
            (
                Query(_quantile(0.99, "roma_kafka_commit_seconds"), "{{instance}} 99 %"),
                Query(_quantile(0.5, "roma_kafka_commit_seconds"), "{{instance}} median"),
            ),
        ),
        Panel(
            "From commit to publication",
            "From the commit on the source to the visibility in Kafka, of the oldest transaction "
            "of each Kafka transaction. MariaDB's times are whole seconds.",
            "s",
            (
                Query(_quantile(0.99, "roma_commit_to_publish_seconds"), "{{instance}} 99 %"),
                Query(_quantile(0.5, "roma_commit_to_publish_seconds"), "{{instance}} median"),
            ),
        ),
        Panel(
            "Errors",
            "Errors that ended a session or kept the instance from one, by code.",
            "ops",
            (Query(_rate("roma_errors_total", "code"), "{{instance}} {{code}}", quiet=True),),
        ),
        Panel(
            "Buffer",
            "Bytes of row events that wait for the publisher. At its limit Kafka is the slower "
            "side.",
            "bytes",
            (Query(f"sum by (instance) (roma_buffer_bytes{_CHOSEN})", "{{instance}}"),),
        ),
        Panel(
            "Slots of the buffer",
            "Slots that wait for the publisher, and slots that wait for a commit.",
            "none",
            (
                Query(
                    f"sum by (instance) (roma_buffer_put{_CHOSEN} - roma_buffer_get{_CHOSEN})",
                    "{{instance}} to publish",
                ),
                Query(
                    f"sum by (instance) (roma_buffer_get{_CHOSEN} - roma_buffer_ack{_CHOSEN})",
                    "{{instance}} to commit",
                ),
            ),
        ),
        Panel(
            "Rows by printer",
            "`readable` takes 20 to 30 times as long as `compiled`; the reason says why.",
            "ops",
            (
                Query(
                    _rate("roma_rows_printed_total", "path, reason"),
                    "{{instance}} {{path}} {{reason}}",
                ),
            ),
        ),
        Panel(
            "Given up, fenced, throttled",
            "Kafka transactions given up by code, fences, and the share of time that limits held "
            "the instance back.",
            "none",
            (
                Query(
                    _rate("roma_kafka_aborts_total", "code"),
                    "{{instance}} {{code}}",
                    quiet=True,
                ),
                Query(_rate("roma_fences_total"), "{{instance}} fenced"),
                Query(_rate("roma_throttled_seconds_total"), "{{instance}} throttled"),
            ),
        ),
        Panel(
            "Kept back and replaced",
            "Dead letters by code, values stored elsewhere, and values with U+FFFD.",
            "ops",
            (
                Query(
                    _rate("roma_dead_letters_total", "code"),
                    "{{instance}} dead letter {{code}}",
                    quiet=True,
                ),
                Query(_rate("roma_claims_total"), "{{instance}} stored elsewhere"),
                Query(_rate("roma_undecodable_values_total"), "{{instance}} with U+FFFD"),
            ),
        ),
        Panel(
            "Spool",
            "Bytes on disk, and for how long the oldest event has waited there.",
            "none",
            (
                Query(f"sum by (instance) (roma_spool_bytes{_CHOSEN})", "{{instance}} bytes"),
                Query(
                    f"max by (instance) (roma_spool_age_seconds{_CHOSEN})", "{{instance}} seconds"
                ),
            ),
        ),
        Panel(
            "Mapping set and epoch",
            "The active set on each relay. Relays that differ for long do not reach ZooKeeper.",
            "none",
            (
                Query(f"max by (instance) (roma_mapping_set{_CHOSEN})", "{{instance}} set"),
                Query(f"max by (instance) (roma_epoch{_CHOSEN})", "{{instance}} epoch"),
            ),
        ),
        Panel(
            "Source servers",
            "1 for the server that is read, and published transactions that a server lacks. "
            "Instances without a standby show one server.",
            "none",
            (
                Query(
                    f"max by (instance, source, role) (roma_source_server_followed{_CHOSEN})",
                    "{{instance}} {{source}} {{role}} is read",
                    quiet=True,
                ),
                Query(
                    "max by (instance, source, role) "
                    f"(roma_source_server_behind_transactions{_CHOSEN} >= 0)",
                    "{{instance}} {{source}} {{role}} lacks",
                    quiet=True,
                ),
            ),
        ),
        Panel(
            "Reconnects and switches",
            "Connections to the source beyond the first, and changes of the server that is read.",
            "ops",
            (
                Query(_rate("roma_source_reconnects_total"), "{{instance}} reconnects"),
                Query(_rate("roma_source_switches_total"), "{{instance}} switches", quiet=True),
            ),
        ),
    ),
)
