"""Describes the effects of acts on the position record in sentences."""

import shlex
from typing import NamedTuple

from api.models.position import PositionView


class SkipShown(NamedTuple):
    """A future transaction that will be skipped. `source` is empty unless the instance is a
    group.
    """

    gtid: str
    source: str


def skips(position: PositionView | None) -> list[SkipShown]:
    """Return the future transactions that will be skipped; empty without a position."""
    if position is None:
        return []
    grouped = [SkipShown(gtid, name) for name, at in position.sources.items() for gtid in at.skips]
    return [*(SkipShown(gtid, "") for gtid in position.skips), *grouped]


def skip_sentences(now: PositionView, gtid: str, *, undo: bool) -> list[str]:
    """Return sentences about the effect of skipping a transaction, or with `undo` of withdrawing
    that.

    now   the present position
    gtid  the transaction
    """
    if undo:
        return [
            f"{gtid} is published like every other transaction, if the relay has not reached it.",
            *_fenced(now),
        ]
    return [
        f"No row of {gtid} is ever published, to any topic.",
        "Copies of its tables lack these changes until you copy the tables again.",
        "After the relay has skipped it, the audit trail names its tables and counts its rows.",
        "Until the relay reaches it, you can take this back here.",
        *_fenced(now),
    ]


def floor_sentences(now: PositionView, above: PositionView) -> list[str]:
    """Return sentences about the effect of raising order keys above those of another instance.

    now    present position of the instance whose order keys are raised
    above  position of the other instance
    """
    mine, other = now.instance, above.instance
    return [
        f"{mine} has published up to order key {_order(now)}, {other} up to {_order(above)}.",
        f"The next rows of {mine} get order keys above both.",
        "Consumers see no other change. Nothing is published again or left out.",
        f"Do this before you move a shard from {other} to {mine}.",
        "Consumers then see the shard's next changes as newer than all published ones.",
        *_fenced(now),
    ]


def button(act: str, name: str, gtid: str, topic: str) -> str:
    """Return the text of the button that executes an act; empty for an unknown act.

    act    key of the act: `skip`, `unskip`, `raise-floor` or `repartition`
    name   the instance
    gtid   the transaction of a skip
    topic  the topic of a repartitioning
    """
    return {
        "skip": f"Leave {gtid} out",
        "unskip": f"Publish {gtid} after all",
        "raise-floor": f"Raise the order keys of {name}",
        "repartition": f"Partition {topic} otherwise",
    }.get(act, "")


def _order(position: PositionView) -> str:
    return f"{position.execute_time or 0}.{position.execute_position}"


def _fenced(now: PositionView) -> list[str]:
    if now.leader is None:
        return []
    return [
        f"{now.leader} leads {now.instance}. Kafka fences it at the old record.",
        "It continues with the new record.",
    ]


def commands(now: PositionView) -> list[str]:
    """Return the commands that read the binlog from this position on; empty for an instance without
    one.
    """
    if not now.file:
        return []
    places = [("", now.file, now.offset)]
    if now.sources:
        places = [(name, at.file, at.offset) for name, at in now.sources.items()]
    told = []
    for source, file, offset in places:
        place = f"--file {shlex.quote(file or '')} --offset {offset}"
        chosen = f" --source {shlex.quote(source)}" if source else ""
        at = f"{shlex.quote(now.instance)} {place}{chosen}"
        told += [f"roma binlog {verb} {at} --config FILE" for verb in ("show", "verify")]
    if now.execute_position is not None:
        told.append(f"roma position decode {now.execute_position}")
    return told
