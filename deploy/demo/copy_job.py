"""The Spark job of the demo, in a separate process: `python -m deploy.demo.copy_job CONFIG WANTED
ROWS`.

Runs the dedup stream. When the file WANTED appears, the job applies all messages and then writes
the rows of all copies to the file ROWS.
"""

import json
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil
import pyspark.sql.functions as sf
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from spark_jobs import dedup_stream
from spark_jobs.config.job import JobSettings, load_settings
from spark_jobs.runtime.shutdown import Shutdown
from spark_jobs.sinks import DeltaSink, live_rows

_POLL_SECONDS: Final = 0.1
_JVM_SECONDS: Final = 10.0
_DATETIME: Final = "yyyy-MM-dd HH:mm:ss.SSS"


def main() -> int:
    """Run until SIGTERM, then finish the batch and return 0; 1 if the stream ended before."""
    config, wanted, rows = map(Path, sys.argv[1:])
    settings = load_settings(config)
    shutdown = Shutdown()
    shutdown.listen()
    query = dedup_stream.start(settings, shutdown)
    shutdown.listen()  # again: Spark's start replaces the handler of SIGINT
    print("the stream runs", flush=True)
    try:
        _serve(query, shutdown, settings, wanted, rows)
        shutdown.watch(query)  # raises the error of the query
    finally:
        query.stop()
        _end_spark()
    return 0 if shutdown.requested else 1


def _serve(
    query: StreamingQuery, shutdown: Shutdown, settings: JobSettings, wanted: Path, rows: Path
) -> None:
    """Write the rows at each request, until the query ends or a shutdown is requested."""
    pause = threading.Event()
    while query.isActive and not shutdown.requested:
        if wanted.exists():
            wanted.unlink()
            with suppress(
                StreamingQueryException
            ):  # `Shutdown.watch` raises the error of the query
                query.processAllAvailable()
                _write(settings, rows)
        pause.wait(_POLL_SECONDS)


def _write(settings: JobSettings, target: Path) -> None:
    """Write `{"database.table": [row, ...]}`, whole or not at all."""
    spark = SparkSession.getActiveSession() or SparkSession.Builder().getOrCreate()
    copies = DeltaSink(spark, settings.copy_root)
    names = [
        f"{path.parent.name}.{path.name}"
        for path in Path(settings.copy_root).glob("[!_]*/*")
        if path.is_dir()
    ]
    content = {
        name: [
            row.asDict()
            for row in _as_text(
                live_rows(spark.read.format("delta").load(copies.path(name)))
            ).collect()
        ]
        for name in sorted(names)
    }
    unfinished = target.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(content), encoding="utf-8")
    unfinished.rename(target)


def _as_text(rows: DataFrame) -> DataFrame:
    """Return the values as text like that of the source: its only times are DATETIME(3)."""
    times = {name for name, kind in rows.dtypes if kind.startswith("timestamp")}
    texts = {
        name: sf.date_format(sf.col(name).cast("timestamp"), _DATETIME)
        if name in times
        else sf.col(name).cast("string")
        for name in rows.columns
    }
    return rows.withColumns(texts)


def _end_spark() -> None:
    """Stop Spark and wait for its JVM, which still uses the folder."""
    machines = psutil.Process().children(recursive=True)
    spark = SparkSession.getActiveSession()
    if spark is not None:
        spark.stop()
    for machine in machines:
        machine.terminate()
    psutil.wait_procs(machines, _JVM_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
