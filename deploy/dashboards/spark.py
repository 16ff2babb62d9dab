"""The dashboard of `roma dedup stream`."""

from typing import Final

from deploy.dashboards.panels import Dashboard, Panel, Query

SPARK: Final = Dashboard(
    uid="roma-spark",
    title="Roma: Spark stream",
    description="The job that writes the copies. Each process of the job is one target.",
    panels=(
        Panel(
            "Age of the newest message in the copies",
            "Taken when the last batch was in the copies.",
            "s",
            (Query("roma_dedup_lag_seconds", "{{instance}}"),),
        ),
        Panel(
            "Rows",
            "Changes read, rows of copies written, and changes that a newer one outdid.",
            "ops",
            (
                Query("rate(roma_dedup_rows_total[$__rate_interval])", "read"),
                Query("rate(roma_dedup_winners_total[$__rate_interval])", "written"),
                Query("rate(roma_dedup_stale_total[$__rate_interval])", "outdone"),
            ),
        ),
        Panel(
            "Time of a batch",
            "Of the last batch, and of the one that runs.",
            "s",
            (
                Query("roma_dedup_batch_seconds", "last"),
                Query("roma_dedup_running_batch_seconds", "running"),
            ),
        ),
        Panel(
            "Messages put aside",
            "Messages that the job could not apply. `roma dedup` lists them.",
            "ops",
            (Query("rate(roma_dedup_put_aside_total[$__rate_interval])", "put aside"),),
            red_above=0.001,
        ),
    ),
)
