"""Rows that become one message, partition by partition."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from relay.generated.texts import BYTES_AS_TEXT
from relay.model.message import PrintedRecord


@dataclass(slots=True)
class Run:
    """The printed rows of one partition, what they were before, and their positions; `first` is that of the first one."""

    first: int
    rows: list[str] = field(default_factory=list)
    old: list[str] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)


def packed_records(runs: Mapping[int, Run], before: str, after: str, time: int, *, with_old: bool) -> list[PrintedRecord]:
    """Return one message for each run. The orders of a run's rows are offsets to its first one."""
    return [_record(partition, run, before, after, time, with_old=with_old) for partition, run in runs.items()]


def _record(partition: int, run: Run, before: str, after: str, time: int, *, with_old: bool) -> PrintedRecord:
    old = f"{before}[{','.join(run.old)}]" if with_old else before
    value = f'{{"data":[{",".join(run.rows)}{old}{after}'.encode(BYTES_AS_TEXT)
    offsets = ",".join([str(position - run.first) for position in run.positions]).encode() if len(run.rows) > 1 else None
    return partition, None, value, b"%013d.%019d" % (time, run.first), offsets
