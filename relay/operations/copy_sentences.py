"""Writes sentences about copy requests (snapshots), for the command line and the admin's page."""

from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from relay.errors import SnapshotRefused
from relay.operations.wanted_snapshots import WantedSnapshot
from relay.settings import InstanceSettings, copies_refusal


def progress_sentence(progress: Mapping[str, Any]) -> str:
    """Return a sentence about the running copy request; "" if none runs. `progress` has the fields
    of `CopyView.to_fields`.
    """
    if not progress.get("request"):
        return ""
    rows = f"{progress['rows']:,} rows, about {progress['remaining']:,} left"
    parts = [
        f"{progress['table'] or 'the tables are listed'}: {rows}",
        f"{progress['rows_per_second']:,.0f} rows/s",
        f"{progress['tables_left']:,} tables left",
    ]
    waits = str(progress["waits"])
    return ", ".join(parts) + (f"; waits: {waits}" if waits else "")


def foretold_copy(
    instance: InstanceSettings, wanted: WantedSnapshot, met: Sequence[str]
) -> list[str]:
    """Return sentences about what a copy request would do in one instance, without a query to the
    source.

    `wanted` is the request, and `met` are the logical tables that the instance has read. Raises
    SnapshotRefused if the instance's settings do not allow copies.
    """
    if refusal := copies_refusal(instance):
        raise SnapshotRefused(refusal)
    return [
        _which(instance.name, wanted, met),
        _rows(wanted),
        _where_to(wanted),
        *_format(instance, wanted.to_topic),
        "The stream continues, and nothing is locked on the source.",
        _pace(instance, wanted),
    ]


def foretold_repair(
    instance: InstanceSettings, wanted: Sequence[WantedSnapshot], left_out: Sequence[str] = ()
) -> list[str]:
    """Return sentences about what a repair would do in one instance: copy requests that publish the
    rows with given keys again.

    `wanted` are the requests, and `left_out` the sentences of `RepairPlan` about rows that cannot
    be repaired. Raises SnapshotRefused if the instance's settings do not allow copies.
    """
    if refusal := copies_refusal(instance):
        raise SnapshotRefused(refusal)
    keys = Counter[str]()
    for each in wanted:
        keys[each.tables[0]] += len(each.keys)
    told = [
        f"{table}: {instance.name} reads the present rows of {count:,} "
        f"{'key' if count == 1 else 'keys'} from its shards, and publishes them again."
        for table, count in keys.items()
    ]
    if told:
        more = f" {len(wanted):,} requests are made, one after another." if len(wanted) > 1 else ""
        told += [
            f"{_where_to(WantedSnapshot(()))}{more}",
            "A key without a row gets no message: another shard may have the row.",
            "The stream continues, and nothing is locked on the source.",
            _pace(instance, WantedSnapshot(())),
        ]
    return [*told, *left_out]


def _which(name: str, wanted: WantedSnapshot, met: Sequence[str]) -> str:
    found = [table for table in met if any(fnmatchcase(table, each) for each in wanted.tables)]
    asked = ", ".join(wanted.tables)
    if not found:
        return (
            f"{name} has not read any table {asked} yet. It searches its source for the "
            "tables, also for those without changes."
        )
    shown = ", ".join(found[:20]) + (f" and {len(found) - 20:,} more" if len(found) > 20 else "")
    return (
        f"{name} copies {shown} from every shard that it reads. It also copies tables that match "
        f"{asked} on its source but of which it has read no change yet."
    )


def _where_to(wanted: WantedSnapshot) -> str:
    return (
        f"Rows go to {wanted.to_topic or 'the topics of the mapping'}, as INSERT with the "
        "header snapshot: true. If a row changes during the copy, its change is published "
        "instead of the copied row."
    )


def _format(instance: InstanceSettings, to_topic: str) -> list[str]:
    """Return a sentence about the format that the topic of a request must have."""
    if not to_topic:
        return []
    name = instance.format_of(to_topic)
    return [
        (
            f"The messages have the format {name}. If the topic has another format, the request "
            "ends without a message."
        )
    ]


def _rows(wanted: WantedSnapshot) -> str:
    if wanted.keys:
        return f"Only the rows of {len(wanted.keys):,} keys."
    return f"Only rows for which {wanted.where} holds." if wanted.where else "All rows."


def _pace(instance: InstanceSettings, wanted: WantedSnapshot) -> str:
    limits = instance.copying
    pace = f"At most {wanted.rows_per_second:,} rows/s. " if wanted.rows_per_second else ""
    held = [
        *([f"Threads_running is above {limits.threads_running}"] if limits.threads_running else []),
        *([f"live rows lag more than {limits.lag_seconds:g} s"] if limits.lag_seconds else []),
    ]
    return (
        f"{pace}It waits while {' or '.join(held)}."
        if held
        else (
            f"{pace}It does not pause for a busy source or for lag, because "
            "copying.threads_running and copying.lag_seconds are 0."
        )
    )
