"""Runs bootstrap while a relay, a dedup stream and a load run. Bootstrap is killed once, continued,
and run a second time. At the end source and copy must be equal.

The first rows are older than the relay's start, so only bootstrap can copy them. The load inserts,
changes and deletes keys of both shards all the time; deleted keys must not return to the copy.
"""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event, Thread
from time import monotonic

import tomli_w

from deploy.embedded import Kafka, MariaDB, ZooKeeper, spark_jars
from spark_jobs.config.job import JobSettings
from tests.support.copies.first_copies import job_settings, source
from tests.support.copies.job_process import JobProcess
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.waiting import wait_until

_PAUSE_S = 0.01
_SHARDS = ("shop_1", "shop_2")
_TYPES = "id bigint primary key, n int, note varchar(60), amount decimal(10,2), at datetime(3)"


class Load(Thread):
    """Commits transactions with five changes of random keys each, until `end` is called."""

    def __init__(self, database: MariaDB, rows: int) -> None:
        super().__init__(name="load")
        self._database, self._rows = database, rows
        self._ending = Event()
        self.transactions = 0

    def run(self) -> None:
        """Commit transactions until `end` is called. The random seed is always the same."""
        chance = random.Random(1)
        with self._database.connect(autocommit=False) as connection, connection.cursor() as cursor:
            while not self._ending.wait(_PAUSE_S):
                for _ in range(5):
                    cursor.execute(*_statement(chance, self._rows))
                connection.commit()
                self.transactions += 1

    def end(self) -> None:
        """Stop the load and wait up to 20 s for its last transaction."""
        self._ending.set()
        self.join(20)


def _statement(chance: random.Random, rows: int) -> tuple[str, tuple[int, ...]]:
    """A key of shard 1 is odd, one of shard 2 even, so keys are unique over both."""
    shard = chance.randrange(2)
    key = 2 * chance.randrange(int(rows * 1.2)) + 1 - shard
    table = f"{_SHARDS[shard]}.orders_{shard + 1}"
    if chance.random() < 0.3:
        return f"delete from {table} where id = %s", (key,)
    insert = f"insert into {table} values (%s, %s, hex(rand()), rand() * 1000, now(3)) "
    return insert + "on duplicate key update n = values(n), note = values(note), at = values(at)", (
        key,
        chance.randrange(1000),
    )


def under_load(folder: Path, rows: int, seconds: float) -> int:
    """Run the check and print its steps; return 0 if reconcile finds source and copy equal."""
    with ExitStack() as stack:
        database, zookeeper, kafka = (
            stack.enter_context(MariaDB()),
            stack.enter_context(ZooKeeper()),
            stack.enter_context(Kafka()),
        )
        _fill(database, rows)
        installation = Installation(
            "shop", folder, database, kafka, zookeeper, filter={"filter_regex": "shop_.\\..*"}
        )
        stack.callback(installation.close)
        installation.map(**_MAPPING)
        relay = stack.enter_context(RelayProcess(installation))
        relay.wait_for("RUNNING", seconds=60)
        load = Load(database, rows)
        load.start()
        stack.callback(load.end)
        settings = _settings(kafka, database, folder, rows)
        stream = stack.enter_context(_first_batch_done(settings, folder))
        _killed_once(settings, folder)
        _job(settings, folder, "bootstrap", "--anew")
        Event().wait(seconds)
        load.end()
        print(f"{load.transactions} transactions of five changes in all; now the proof", flush=True)
        code = _job(settings, folder, "reconcile", "--json")
        stream.ask_to_end()
        return code or stream.wait()


@contextmanager
def _first_batch_done(settings: JobSettings, folder: Path) -> Iterator[JobProcess]:
    with JobProcess(settings.model_copy(update={"sources": ()}), folder) as stream:
        wait_until(
            lambda: "batch 0" in stream.output or not stream.running,
            "the first batch of the stream",
            90,
        )
        yield stream


_MAPPING: Mapping[str, list[dict[str, str]]] = {
    "dbs": [{"logicDb": "shop", "realDbs": ",".join(_SHARDS)}],
    "tbs": [{"logicTb": "orders", "realTbs": "orders_1,orders_2"}],
    "topics": [{"logicDb": "shop", "topic": "shop"}],
}


def _fill(database: MariaDB, rows: int) -> None:
    for number, shard in enumerate(_SHARDS, 1):
        table = f"{shard}.orders_{number}"
        values = (
            f"select 2 * seq + {2 - number}, seq, md5(seq), seq / 3, now(3) from "
            f"{shard}.seq_0_to_{rows - 1}"
        )
        database.execute(
            f"create database {shard}",
            f"create table {table} ({_TYPES})",
            f"insert into {table} {values}",
        )


def _settings(kafka: Kafka, database: MariaDB, folder: Path, rows: int) -> JobSettings:
    settings = job_settings(kafka, folder, "shop", _MAPPING, source("shop", database))
    return settings.model_copy(
        update={
            "checkpoint": str(folder / "checkpoint"),
            "trigger_seconds": 1,
            "bootstrap": settings.bootstrap.model_copy(
                update={"settle_seconds": 1, "range_rows": max(1, rows // 4), "parallel": 2}
            ),
            "reconcile": settings.reconcile.model_copy(
                update={"patience_seconds": 60, "range_rows": rows, "bucket_rows": 1000}
            ),
        }
    )


def _killed_once(settings: JobSettings, folder: Path) -> None:
    """Start a bootstrap, kill it with its JVM after its first round is recorded, and finish it with
    a second start.
    """
    output = folder / "killed.out"
    with (
        output.open("wb") as out,
        subprocess.Popen(
            _command(settings, folder, "bootstrap"), stdout=out, start_new_session=True
        ) as job,
    ):
        wait_until(
            lambda: b"rows/s" in output.read_bytes() or job.poll() is not None,
            "the first round",
            120,
        )
        os.killpg(job.pid, signal.SIGKILL)
    print(f"killed behind: {output.read_text(encoding='utf-8').splitlines()[-1:]}", flush=True)
    _job(settings, folder, "bootstrap")


def _job(settings: JobSettings, folder: Path, name: str, *options: str) -> int:
    """Run a job to its end, and print its output."""
    began = monotonic()
    ran = subprocess.run([*_command(settings, folder, name), *options], check=False)
    print(f"{name}: exit code {ran.returncode}, {monotonic() - began:.1f} s", flush=True)
    return ran.returncode


def _command(settings: JobSettings, folder: Path, name: str) -> list[str]:
    document = settings.model_dump(mode="json", exclude_none=True, by_alias=True) | {
        "jars": [str(jar) for jar in spark_jars()]
    }
    for each, known in zip(document["sources"], settings.sources, strict=True):
        each["password"] = known.password.get_secret_value()
    config = folder / "copies.toml"
    config.write_text(tomli_w.dumps(document), encoding="utf-8")
    return [sys.executable, "-m", "relay", name, "--config", str(config)]
