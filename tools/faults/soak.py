"""Load for a long time with random faults. At the end source and copy must be equal, and the memory
of the relay must not have grown.
"""

import signal
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Final

from deploy.embedded import Kafka
from deploy.embedded.fetching.progress import say
from tests.support.faults.fence import Stranger
from tools.faults.load import held
from tools.faults.reading.tally import Counts
from tools.faults.runner import all_read
from tools.faults.stage import Run, Servers, Setup
from tools.faults.usage import Usage, UsageSampler

_EVERY_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class Soaked:
    """The result of a soak run; `usage` is that of the relay that no fault killed."""

    minutes: float
    faults: dict[str, int]
    counts: Counts
    copy_equals_source: bool
    longest_silence_s: float
    usage: Usage

    @property
    def clean(self) -> bool:
        """Return True if no row was lost, the copy equals the source, and usage is flat."""
        return self.counts.clean and self.copy_equals_source and self.usage.flat

    def lines(self) -> list[str]:
        """Return the result as lines of text."""
        happened = ", ".join(f"{name} {times}" for name, times in sorted(self.faults.items()))
        counts = self.counts
        return [
            f"{self.minutes:.1f} minutes, {sum(self.faults.values())} faults: {happened}",
            (
                f"{counts.seen} changes seen, {counts.lost} lost, {counts.repeated} repeated, "
                f"{counts.out_of_order} out of order"
            ),
            (
                f"source and copy are {'equal' if self.copy_equals_source else 'NOT EQUAL'}; "
                f"longest silence {self.longest_silence_s:.1f} s"
            ),
            str(self.usage),
        ]


def soak(servers: Servers, minutes: float, seed: int, rate: float) -> Soaked:
    """Run the load with random faults. Raises AssertionError with the relays' logs if the stream
    stops.
    """
    with (
        tempfile.TemporaryDirectory(prefix="roma-soak-") as folder,
        Run(servers, f"soak_{seed}", Path(folder), seed, Setup(rate=rate)) as run,
        run.busy(2),
        UsageSampler(run.relays[0].pid) as sampler,
    ):
        run.watcher.measure_silence()
        began, faults = monotonic(), _faults_until(run, monotonic() + 60 * minutes)
        silence_s = run.watcher.silence_s
        run.load.end()
        all_read(run)
        now = held(run.database, run.name)
        counts, equal = run.watcher.tally.against(now), run.watcher.copy == now
        return Soaked((monotonic() - began) / 60, faults, counts, equal, silence_s, sampler.usage())


def _faults_until(run: Run, end_s: float) -> dict[str, int]:
    done: dict[str, int] = {}
    while monotonic() < end_s:
        next_s = monotonic() + _EVERY_S
        name = run.chance.choice(list(_FAULTS))
        say(
            f"{(end_s - monotonic()) / 60:5.1f} minutes to go, {run.watcher.tally.seen} seen: "
            f"{name}"
        )
        _FAULTS[name](run)
        run.moving()
        done[name] = done.get(name, 0) + 1
        run.rest(max(0.0, next_s - monotonic()))
    return done


def _relay_killed(run: Run) -> None:
    """Kill the second relay, so that the memory of the first one covers the whole time."""
    run.relays[1].kill()
    run.relays[1].start()


def _relay_stopped(run: Run) -> None:
    run.relays[1].stop()
    run.relays[1].start()


def _leader_paused(run: Run) -> None:
    leader = run.leader
    leader.signal(signal.SIGSTOP)
    run.rest(1, 6)
    leader.signal(signal.SIGCONT)


def _broker_killed(run: Run) -> None:
    broker = _broker(run)
    broker.kill()
    run.rest(0, 3)
    broker.start()


def _broker_paused(run: Run) -> None:
    broker = _broker(run)
    broker.pause()
    run.rest(1, 6)
    broker.resume()


def _zookeeper_killed(run: Run) -> None:
    run.zookeeper.kill()
    run.rest(0, 5)
    run.zookeeper.start()


def _source_cut(run: Run) -> None:
    run.line.shut()
    run.rest(0, 4)
    run.line.reopen()


def _source_swallowed(run: Run) -> None:
    run.line.swallow()
    run.rest(1, 6)
    run.line.reopen()


def _source_killed(run: Run) -> None:
    run.database.kill()
    run.database.start()


def _stranger(run: Run) -> None:
    Stranger(run.kafka.bootstrap, f"{run.name}.shop", run.position_topic).close()


def _broker(run: Run) -> Kafka:
    assert isinstance(run.kafka, Kafka)
    return run.kafka


_FAULTS: Final[dict[str, Callable[[Run], None]]] = {
    "relay killed": _relay_killed,
    "relay stopped": _relay_stopped,
    "leader paused": _leader_paused,
    "broker killed": _broker_killed,
    "broker paused": _broker_paused,
    "ZooKeeper killed": _zookeeper_killed,
    "source cut off": _source_cut,
    "packets to the source dropped": _source_swallowed,
    "source killed": _source_killed,
    "second producer opened": _stranger,
}
