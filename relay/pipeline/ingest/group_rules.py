"""Checks the sources of a group and its position record against rules."""

from collections.abc import Mapping
from itertools import combinations
from typing import Final

from relay.errors import HistoryChanged, SourceSettingsRefused
from relay.model.positions.position import SourcePosition
from relay.model.records.position_record import OtherSource, PositionRecord
from relay.pipeline.ingest.open_sources import OpenSource
from relay.settings import InstanceSettings
from relay.source import ServerFacts

_COMMIT_TIMES_SINCE: Final = (8, 0, 1)
"""From this version on, MySQL logs when a transaction was committed, in microseconds.

Other servers log the second in which it began.
"""


def refuse_foreign_record(instance: InstanceSettings, record: PositionRecord | None) -> None:
    """Raise HistoryChanged if the position record does not fit the settings.

    The record of a group does not fit settings with a single source. The record of a single source
    does not fit settings with a group after an operator moved the position back, until the relay
    has published the changes again.
    """
    if instance.group is None and record is not None and record.following:
        raise HistoryChanged(
            "The position record is that of a group of sources, and the settings have a single "
            "source.",
            remedy="Restore [instances.group], or give the instance another name.",
        )
    if instance.group is not None and record is not None and record.replay is not None:
        raise HistoryChanged(
            "An operator moved the position back, and the relay still publishes changes before "
            f"{record.replay.until} again, in the order of the single source.",
            remedy=(
                "Remove [instances.group] until the relay has passed that position, then add it "
                "again."
            ),
        )


def tells_commits(server: ServerFacts) -> bool:
    """Return whether the server logs when a transaction was committed: MySQL since 8.0.1."""
    return not server.mariadb and server.version >= _COMMIT_TIMES_SINCE


def refuse_one_twice(sources: Mapping[str, OpenSource]) -> None:
    """Raise SourceSettingsRefused if two sources are one server: its rows would be
    published twice.
    """
    for (one, first), (other, second) in combinations(sources.items(), 2):
        if _same_server(first.stream.start, second.stream.start):
            remedy = (
                "Configure each server only once. If these are two servers with one server_id "
                "and one history, one is a clone of the other: give it its own server_id."
            )
            raise SourceSettingsRefused(
                f"Sources {one} and {other} are the same server.", remedy=remedy
            )


def refuse_another_name(
    sources: Mapping[str, OpenSource], known: Mapping[str, OtherSource]
) -> None:
    """Raise HistoryChanged if a source was renamed: under the new name it would start again, and
    lose rows.

    `known` are the positions by source name.
    """
    for name, source in sources.items():
        for former in known.keys() - sources.keys() if name not in known else ():
            if _alike(source.stream.start, known[former].source):
                raise HistoryChanged(
                    f"Source {name} is the server whose position is stored under the name "
                    f"{former}.",
                    remedy=(
                        f"Give the source its former name {former} again. To read it from a "
                        "new start instead, run the instance once without this source."
                    ),
                )


def _alike(one: SourcePosition, other: SourcePosition) -> bool:
    """Return whether two positions may be of one server.

    MySQL servers have a uuid, which no other server has. Two MariaDB servers may have one
    server_id.
    """
    return one.identity.server == other.identity.server


def _same_server(one: SourcePosition, other: SourcePosition) -> bool:
    """Return whether two sources are one server.

    MariaDB servers can share a server_id by accident, but not the creation time of a file with the
    same name.
    """
    same_file = (
        one.binlog.file == other.binlog.file
        and one.identity.file_created_s == other.identity.file_created_s
    )
    return _alike(one, other) and (same_file or bool(one.identity.server_uuid))
