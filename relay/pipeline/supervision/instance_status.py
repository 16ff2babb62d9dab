"""Builds the status that an instance reports to ZooKeeper, the status server and the metrics."""

import logging
from dataclasses import dataclass, replace
from enum import StrEnum
from time import monotonic, time

from relay.errors import (
    ConfigurationError,
    PositionNewer,
    RelayError,
    ResourcesExhausted,
    Stop,
    Unreachable,
)
from relay.pipeline.buffer import ChangeBuffer
from relay.pipeline.delivery.instance_stats import InstanceStats
from relay.pipeline.delivery.row_paths import paths_in_words, rows_by_path
from relay.pipeline.supervision.instance_context import InstanceContext, InstanceMemory
from relay.pipeline.supervision.run_time_remedy import remedy_at_run_time
from relay.state import InstanceStatus


class InstanceState(StrEnum):
    """The state of an instance, as the status names it."""

    STARTING = "STARTING"
    STANDBY = "STANDBY"
    RUNNING = "RUNNING"
    WAITING = "WAITING"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"
    ENDED = "ENDED"


@dataclass(frozen=True, slots=True)
class Shown:
    """The part of the status that the instance's thread sets.

    state             the state
    error             the cause of the state; None: no error
    buffer            the buffer of the present run; None: no run
    unlogged_changes  a sentence about changes that the binlog lacks; "": none are known
    """

    state: InstanceState
    error: RelayError | None
    buffer: ChangeBuffer | None
    unlogged_changes: str


def instance_status(
    context: InstanceContext, memory: InstanceMemory, shown: Shown, relay: str
) -> InstanceStatus:
    """Return the present status of the instance. `relay` is the name of the relay that
    reports it.
    """
    name, error = context.instance.name, shown.error
    run_time = is_defined_at_run_time(context)
    remedy = "" if error is None else remedy_at_run_time(error, name) if run_time else error.way_out
    status = InstanceStatus(
        name=name,
        state=shown.state.value,
        code=error.code if error else "",
        reason=error.reason if error else "",
        remedy=remedy,
        relay=relay,
        mapping_set=context.mapping.number,
        mapping_problem=context.mapping.problem,
        published_set=context.stats.published_set,
        lag_seconds=_lag_seconds(context, shown.state),
        held_back=_held_back(context, memory),
        unlogged_changes=shown.unlogged_changes,
        passed_over=len(memory.group.passed) if memory.group is not None else 0,
        run_time=run_time,
        updated_ms=int(time() * 1000),
    )
    return _with_buffers(
        _with_counts(_with_position(status, context.stats), context.stats), shown.buffer, memory
    )


def unready(
    state: InstanceState, error: RelayError | None, found_by_probe: RelayError | None
) -> RelayError | None:
    """Return why a relay could not lead the instance now; None if it could lead it, or leads it.

    `state` and `error` are those that the relay shows for the instance, and `found_by_probe` is the
    error of the last check of a standby.
    """
    if state in (InstanceState.STARTING, InstanceState.STANDBY):
        # However well it reaches everything: it cannot read the record's format, or failed here a
        # moment ago.
        unable = isinstance(error, PositionNewer | ResourcesExhausted) or type(error) is RelayError
        return error if unable else found_by_probe
    return error if state in (InstanceState.STOPPED, InstanceState.ENDED) else None


def log_level(error: RelayError | None) -> int:
    """Return the level at which a state with this error is logged.

    ERROR if an operator must act, WARNING if a server does not answer, INFO otherwise.
    """
    if isinstance(error, Stop | ConfigurationError):
        return logging.ERROR
    return logging.WARNING if isinstance(error, Unreachable) else logging.INFO


def is_defined_at_run_time(context: InstanceContext) -> bool:
    """Return whether the instance is defined in ZooKeeper, and not in the configuration file."""
    return all(each.name != context.instance.name for each in context.settings.instances)


def _with_position(status: InstanceStatus, stats: InstanceStats) -> InstanceStatus:
    record = stats.record
    if record is None:
        return status
    return replace(
        status,
        epoch=record.epoch,
        position_file=record.source.binlog.file,
        position_offset=record.source.binlog.offset,
        gtid_set=record.source.gtid_set,
        execute_time=record.order.execute_time,
        execute_position=record.order.execute_position,
        sources={name: str(at.binlog) for name, at in record.positions.items()}
        if record.following
        else {},
    )


def _with_counts(status: InstanceStatus, stats: InstanceStats) -> InstanceStatus:
    totals = stats.totals
    return replace(
        status,
        published_rows=totals.published_rows,
        dead_letters=totals.dead_letters.total(),
        claims=totals.claims,
        dropped_rows=dict(totals.dropped_rows),
        row_printer=paths_in_words(totals.printed_rows),
        printed_rows=rows_by_path(totals.printed_rows),
        snapshot=stats.copying.to_fields(),
        keys_differ=" ".join(each for _, each in sorted(stats.key_differences.items())),
        binlog_kept_seconds=stats.binlog_kept_s,
        table_rates=stats.rates.now(stats.rows_by_table, monotonic()),
    )


def _with_buffers(
    status: InstanceStatus, buffer: ChangeBuffer | None, memory: InstanceMemory
) -> InstanceStatus:
    """Add the fill levels of the buffer in memory and of the spool on disk."""
    cursors = buffer.cursors if buffer is not None else None
    spool = memory.spooling.view
    return replace(
        status,
        buffer_put=cursors.put if cursors else 0,
        buffer_get=cursors.get if cursors else 0,
        buffer_ack=cursors.ack if cursors else 0,
        buffer_bytes=cursors.size_bytes if cursors else 0,
        spool=spool.state,
        spool_bytes=spool.size_bytes,
        spool_age_seconds=spool.age_seconds,
        spool_problem=spool.problem,
    )


def _held_back(context: InstanceContext, memory: InstanceMemory) -> str:
    passed = memory.group.words if memory.group is not None else ""
    return " ".join(filter(None, (context.flow.asked, passed)))


def _lag_seconds(context: InstanceContext, state: InstanceState) -> float | None:
    """Return the lag of the instance in seconds.

    None on a standby, because only the leader measures the lag.
    """
    if state is InstanceState.STANDBY:
        return None
    return context.stats.lag_seconds(context.instance.source.heartbeat_seconds)
