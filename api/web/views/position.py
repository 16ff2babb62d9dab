"""Computes the data of the page of a position record."""

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


def commands(now: PositionView) -> list[str]:
    """Return the commands by which an operator reads the binlog from this position on; empty if the
    instance has no position.
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
