"""Measures a job from a topic to HBase: compares it, with each guard, to the classic loop through
the same client.
"""

import os
import tempfile
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path

from pyspark.sql import SparkSession

from deploy.embedded import HBase, Kafka
from deploy.embedded.fetching.progress import say
from spark_jobs.config.hbase import HBaseSettings
from spark_jobs.hbase.gateway import Gateway
from spark_jobs.hbase.tables import Tables
from spark_jobs.sinks import open_sink
from tools.bench.spark.changes import TABLE, Changes
from tools.bench.spark.classic import ClassicLoop, JavaClassicLoop
from tools.bench.spark.job_run import SinkWrites, UsageMeter, is_exact, job, run_to_end, started
from tools.bench.spark.run import SparkRun
from tools.bench.spark.topic import fill

CLASSIC = "classic loop"
LOOPS = {
    "thrift2": f"{CLASSIC}, Thrift2",
    "jvm": f"{CLASSIC}, HBase's own client",
    "files": f"{CLASSIC}, HBase's own client",
}
CLIENTS = ["files", "jvm", "thrift2"]


def measure(
    messages: int, batch: int, warm: int, classic: int, guards: list[str], clients: list[str]
) -> Iterator[SparkRun]:
    """Yield a run of the classic loop for each library of `clients`, then a run of the job for each
    client and guard. The client "files" is run only with the guard "version".

    Each run writes to a separate table. A loop applies the first `classic` messages; 0: no loop is
    run. The job applies all messages in batches of `batch`, of which `warm` are its warm-up.
    """
    changes = Changes()
    with Kafka() as kafka, HBase(heap="3g") as hbase:
        say(f"{messages:,} messages")
        fill(kafka.bootstrap, "orders", changes.draw(messages))
        for loop in dict.fromkeys(LOOPS[client] for client in clients) if classic else ():
            yield _classic(kafka, hbase, loop, classic)
        for client, guard in product(clients, guards):
            if client == "files" and guard != "version":
                continue
            yield _guarded(kafka, hbase, client, guard, batch, warm, changes.newest)


def _classic(kafka: Kafka, hbase: HBase, what: str, messages: int) -> SparkRun:
    through_thrift = what == LOOPS["thrift2"]
    settings = HBaseSettings(
        thrift=(hbase.address,), namespace="classic" if through_thrift else "classic_java"
    )
    with Gateway(settings) as gateway:
        table = Tables(gateway, settings).ensure(TABLE)
    loop = (
        ClassicLoop.to(hbase.address, table) if through_thrift else _java_loop(kafka, hbase, table)
    )
    loop.rows_per_second(
        islice(Changes(seed=2).draw(messages // 4), messages // 4)
    )  # the servers' first calls
    with _watched(kafka, hbase) as watched:
        found = loop.rows_per_second(Changes().draw(messages))
    return SparkRun(
        what,
        messages,
        found,
        found,
        watched.cpu_s,
        watched.peaks,
        None,
        rows_per_second=found,
        beside=what,
    )


def _watched(kafka: Kafka, hbase: HBase) -> UsageMeter:
    pids = {"client": os.getpid(), "broker": kafka.pid}
    return UsageMeter({**pids, "HBase": hbase.pid, "gateway": hbase.thrift.pid})


def _java_loop(kafka: Kafka, hbase: HBase, table: bytes) -> JavaClassicLoop:
    with tempfile.TemporaryDirectory(prefix="roma-bench-") as folder:
        return JavaClassicLoop.to(
            started(job(kafka.bootstrap, "orders", folder, 1)), hbase.quorum, table
        )


def _guarded(
    kafka: Kafka, hbase: HBase, client: str, guard: str, batch: int, warm: int, newest: list[int]
) -> SparkRun:
    section: dict[str, object] = {
        "thrift": (hbase.address,),
        "guard": guard,
        "namespace": f"{client}_{guard}",
        "writers": 2,
    }
    with tempfile.TemporaryDirectory(prefix="roma-bench-", ignore_cleanup_errors=True) as folder:
        if client != "thrift2":
            section |= {"client": "jvm", "quorum": (hbase.quorum,)}
        if client == "files":
            section["files"] = {"staging": (Path(folder) / "staging").as_uri()}
        settings = job(kafka.bootstrap, "orders", folder, batch, sink="hbase", hbase=section)
        spark: SparkSession = started(settings)
        with _watched(kafka, hbase) as watched, SinkWrites() as writes:
            batches = run_to_end(settings)
        exact = is_exact(open_sink(spark, settings).read(TABLE), newest)
        return SparkRun.of_job(
            f"{client}, guard {guard}",
            batches,
            warm,
            watched,
            exact=exact,
            rows_per_second=writes.rate(warm),
            beside=LOOPS[client],
        )
