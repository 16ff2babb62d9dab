"""Runs a scenario: the fault under load, then the comparison of all messages with the source."""

import tempfile
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Final

import pymysql
from confluent_kafka import KafkaException

from deploy.embedded import EmbeddedError
from relay.errors import RelayError
from tests.support.sources.counting_load import binlog_end, published_end
from tests.support.waiting import wait_until
from tools.faults.load import held
from tools.faults.outcome import Outcome, outcome
from tools.faults.reading.transactions import disagreement
from tools.faults.scenario import Scenario
from tools.faults.stage import Run, Servers

_PUBLISHED_S: Final = 90.0
_READ_S: Final = 15.0


def run_once(servers: Servers, scenario: Scenario, seed: int, number: int) -> Outcome:
    """Run a scenario under a new name, and return its outcome, also if the run fails.

    Servers that an earlier run left ended are started first. Raises EmbeddedError if one does not
    start: no later run can succeed.
    """
    again = servers.start_again()
    began = monotonic()
    with tempfile.TemporaryDirectory(prefix="roma-faults-") as folder:
        try:
            name = f"fault_{seed}_{number}"
            found = _run(servers, scenario, seed, name, Path(folder), began)
        except (
            AssertionError,
            EmbeddedError,
            KafkaException,
            RelayError,
            pymysql.err.Error,
            OSError,
        ) as failure:
            found = Outcome(
                scenario.name,
                seed,
                0,
                0,
                0,
                0,
                0.0,
                round(monotonic() - began, 1),
                failure=str(failure) or repr(failure),
            )
    restarted = f"started again before: {', '.join(again)}" if again else ""
    return replace(found, note="; ".join(filter(None, (restarted, found.note))))


def _run(
    servers: Servers, scenario: Scenario, seed: int, name: str, folder: Path, began: float
) -> Outcome:
    with Run(servers, name, folder, seed, scenario.setup) as run:
        with run.busy(scenario.relays):
            run.watcher.measure_silence()
            scenario.act(run)
            run.load.end()
            silence_s = run.watcher.silence_s
            all_read(run)
        if scenario.setup.transactions and run.watcher.reads_whole:
            wrong = disagreement(run.reads_at, name)
            assert not wrong, wrong
        counts = run.watcher.tally.against(held(run.database, name))
        if scenario.setup.drops_repeats:
            run.notes.append(
                f"{run.watcher.tally.dropped} changes came again under the order that they had"
            )
        return outcome(
            scenario.name,
            seed,
            counts,
            silence_s,
            monotonic() - began,
            "; ".join(filter(None, run.notes)),
        )


def all_read(run: Run) -> None:
    """Wait until everything is published and the reader has it, or until a timeout."""
    end = binlog_end(run.database)
    try:
        wait_until(
            lambda: published_end(run.installation) >= end,
            f"the end of the binlog, {end}",
            _PUBLISHED_S,
        )
    except AssertionError as exc:
        raise AssertionError(f"{exc}: {run.installation.status()}\n{run.logs()}") from exc
    source = held(run.database, run.name)
    deadline_s = monotonic() + _READ_S
    while run.watcher.tally.missing(source) > 0 and monotonic() < deadline_s:
        run.rest(0.1)
    run.rest(0.5)  # repeated messages would arrive now
