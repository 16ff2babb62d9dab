"""Runs a job over a full topic, and measures each batch."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event, Thread
from time import monotonic
from types import TracebackType
from typing import Any, Final
from unittest.mock import patch

from pyspark.sql import DataFrame, SparkSession

from deploy.embedded import hbase_client_jars, spark_environment, spark_jars
from spark_jobs import dedup_stream
from spark_jobs.config.job import JobSettings
from spark_jobs.runtime.spark_session import open_spark
from spark_jobs.sinks.hbase import HBaseSink
from spark_jobs.sinks.sink import ReducedBatch, Written
from tools.bench.measuring.usage import CpuMeter, peak_bytes

_POLL_S: Final = 0.5
_HEAP: Final = "2g"


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages of one batch and the seconds that it took from its trigger to its commit."""

    messages: int
    seconds: float


@dataclass(slots=True)
class SinkWrites:
    """Context manager: records the rows and the seconds of each write of the sink, without reading,
    parsing and reducing.
    """

    rows: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    _patch: Any = None

    def __enter__(self) -> "SinkWrites":
        write = HBaseSink.write

        def timed(sink: HBaseSink, batch: ReducedBatch) -> Mapping[str, Written]:
            began = monotonic()
            written = write(sink, batch)
            self.seconds.append(monotonic() - began)
            self.rows.append(sum(each.winners for each in written.values()))
            return written

        self._patch = patch.object(HBaseSink, "write", timed)
        self._patch.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._patch.stop()

    def rate(self, warm: int) -> float:
        """Return the rows a second, without those of the first batches."""
        return sum(self.rows[warm:]) / sum(self.seconds[warm:])


@dataclass(slots=True)
class UsageMeter:
    """Context manager: measures CPU seconds and peak memory of processes and their children. A
    child that is measured separately does not count for its parent.
    """

    pids: Mapping[str, int]
    cpu_s: dict[str, float] = field(default_factory=dict)
    peaks: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    _done: Event = field(default_factory=Event)
    _thread: Thread | None = None
    _began: float = 0.0

    def __enter__(self) -> "UsageMeter":
        meter = CpuMeter(self.pids)
        self.cpu_s = meter.seconds
        self._began = monotonic()
        self._thread = Thread(target=self._sample, args=(meter,), name="usage")
        self._thread.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()
        self.seconds = monotonic() - self._began

    def _sample(self, meter: CpuMeter) -> None:
        while not self._done.wait(_POLL_S):
            meter.sample()
            self._sample_peaks()
        meter.sample()

    def _sample_peaks(self) -> None:
        found = {name: peak_bytes(pid) for name, pid in self.pids.items()}
        others = sum(peak for name, peak in found.items() if self.pids[name] != os.getpid())
        for name, peak in found.items():
            own = peak - others if self.pids[name] == os.getpid() else peak
            self.peaks[name] = max(self.peaks.get(name, 0), own)


def job(bootstrap: str, topic: str, folder: str, batch: int, **more: Any) -> JobSettings:
    """Return the settings of a stream that reads the whole topic in batches, with the second
    compiler of the JVM as in a long-running job.
    """
    kafka = {"bootstrap_servers": bootstrap, "topics": (topic,), "max_offsets_per_trigger": batch}
    jars = spark_jars() + hbase_client_jars()
    place = {
        "copy_root": f"{folder}/copy",
        "checkpoint": f"{folder}/checkpoint",
        "jars": jars,
        "master": "local[2]",
    }
    return JobSettings.model_validate(
        {"kafka": kafka, **place, "jvm_options": "-XX:TieredStopAtLevel=4", **more}
    )


def started(settings: JobSettings) -> SparkSession:
    """Start Spark as the job does, on loopback; without the archive of classes, which operators do
    not have.
    """
    os.environ.update(spark_environment())
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--driver-memory {_HEAP} pyspark-shell"
    os.environ["SPARK_SUBMIT_OPTS"] = ""
    return open_spark(settings, "roma-bench")


def run_to_end(settings: JobSettings) -> list[Batch]:
    """Run the job to the end of its topic and return its batches."""
    query = dedup_stream.start(settings)
    query.awaitTermination()
    return [
        Batch(each.numInputRows, each.durationMs["triggerExecution"] / 1000)
        for each in query.recentProgress
        if each.numInputRows
    ]


def rate(batches: Sequence[Batch]) -> float:
    """Return the messages a second."""
    return sum(each.messages for each in batches) / sum(each.seconds for each in batches)


def is_exact(copy: DataFrame | None, newest: list[int]) -> bool:
    """Return whether the copy has every key with its newest change.

    The test compares the number of rows and of keys, the sum of the orders, and the sum of the
    values.
    """
    if copy is None:
        return False
    found = copy.selectExpr(
        "count(*)", "sum(_execute_position)", "sum(user_id)", "count(distinct id)"
    ).collect()[0]
    total = sum(newest)
    return tuple(found) == (len(newest), total, total, len(newest))
