"""Parses markers of moved tables, and checks that the markers of all instances were read.

An instance publishes a marker to a topic when a mapping edit routes a database to another topic.
After the marker it publishes no rows of the database to the former topic, unless another edit
routes the database back.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from roma_client.errors import CorruptMessage, TableMoved
from roma_client.records.order_guard import Partition
from roma_client.records.record import MOVED, UNREADABLE, Record

_VERSION: Final = 1


class Marker(NamedTuple):
    """A message by which an instance announces that it publishes rows of a database to `to` from
    now on, and no longer to `topic`.

    set      number of the mapping set under which the instance publishes after the marker
    feeders  all instances that publish to `topic`

    If `to` contains `topic`, the instance publishes there again.
    """

    database: str
    topic: str
    to: tuple[str, ...]
    set: int
    instance: str
    feeders: frozenset[str]


class Departure(NamedTuple):
    """The move of a table from a topic, under a mapping set.

    to  the next topic; empty: the mapping has no topic for the table
    """

    set: int
    to: str


@dataclass(frozen=True, slots=True)
class Followed:
    """The table whose moves a client follows.

    topic  topic in which it is read
    after  number of the mapping set that moved it there; 0 for the first topic
    gone   instances that never publish again; their markers are not expected
    since  number of the set that had routed the table to the topic when the group began; None:
           unknown
    had    topic → the set that routed the table to it, when the client was opened
    """

    database: str
    table: str
    topic: str
    after: int = 0
    gone: frozenset[str] = frozenset()
    since: int | None = None
    had: Mapping[str, int] = field(default_factory=dict)

    @property
    def repeats_from(self) -> int | None:
        """Return the number of the mapping set that gave the table the present topic in addition to
        its former one, before the client followed the table here; otherwise None.

        Rows that were published since that set are in both topics.
        """
        since = self.had.get(self.topic)
        return since if since is not None and since < self.after else None

    @property
    def name(self) -> str:
        """The table's name `database.table`."""
        return f"{self.database}.{self.table}"


def marker_of(record: Record) -> Marker | None:
    """Return the marker in a record; None if the record is not a marker.

    Raises CorruptMessage for a marker that this client cannot read, because it must not be skipped.
    """
    text = record.header(MOVED) if record.value is None else None
    if text is None:
        return None
    try:
        fields: Any = json.loads(text)
        if fields["version"] != _VERSION:
            raise ValueError(f"version {fields['version']}")
        return Marker(
            str(fields["database"]),
            str(fields["topic"]),
            tuple(map(str, fields["to"])),
            int(fields["set"]),
            str(fields["instance"]),
            frozenset(map(str, fields["feeders"])),
        )
    except UNREADABLE as exc:
        raise CorruptMessage(
            f"Record {record.offset} of {record.topic}, partition {record.partition}, marks the "
            f"move of a table in a form that this client cannot read: {exc}."
        ) from exc


def expanded(topic: str, database: str, table: str) -> str:
    """Return a topic of the mapping in which `{db}` and `{table}` are replaced by names."""
    return topic.replace("{db}", database).replace("{table}", table)


@dataclass(slots=True)
class _Page:
    """The markers of one partition: set, then instance, to the offset of its first one."""

    offsets: dict[int, dict[str, int]] = field(default_factory=dict)
    markers: dict[int, list[Marker]] = field(default_factory=dict)
    left: tuple[int, Departure] | None = None


class Departures:
    """The markers of a table that a client has read, by partition. Not thread-safe.

    A partition ends after the markers of all instances that publish to the topic.
    """

    def __init__(self, followed: Followed) -> None:
        self._followed = followed
        self._pages: dict[Partition, _Page] = {}

    def note(self, partition: Partition, offset: int, marker: Marker) -> bool:
        """Record a marker; return whether it is a marker of this table that ends the table in the
        topic.

        Raises TableMoved if an instance returns to the topic before the markers of all instances
        were read. The client would then read the rows after the return before the older rows that
        this instance published to another topic in between.
        """
        followed = self._followed
        to = [expanded(each, followed.database, followed.table) for each in marker.to]
        of_other = (marker.database, marker.topic) != (followed.database, followed.topic)
        if of_other or marker.set <= followed.after:
            return False
        if followed.topic in to:
            self._refuse_early(partition, marker)
            return False
        page = self._pages.setdefault(partition, _Page())
        page.offsets.setdefault(marker.set, {}).setdefault(marker.instance, offset)
        page.markers.setdefault(marker.set, []).append(marker)
        if page.left is None and not self._missing(page, marker.set):
            end = max(page.offsets[marker.set].values()) + 1
            page.left = end, Departure(marker.set, to[0] if to else "")
        return True

    def _refuse_early(self, partition: Partition, back: Marker) -> None:
        page = self._pages.get(partition)
        if page is None or page.left is not None:
            return
        for number in sorted(each for each in page.offsets if each < back.set):
            if back.instance in page.offsets[number]:
                missing = ", ".join(sorted(self._missing(page, number)))
                raise TableMoved(
                    f"Instance {back.instance} left topic {back.topic}, partition {partition[1]}, "
                    f"with mapping set {number} and came back with set {back.set}, and the markers "
                    f"of other instances that feed it are missing (missing: {missing}). Rows in "
                    "the topics between would be read too late.",
                    "An older relay, or one with `topic.move_markers = false`, publishes there; or "
                    "an instance was retired. Name it in `removed_instances` if its rows need no "
                    "order across the topics.",
                )

    def resume(self, partition: Partition, offset: int, left: Departure | None) -> None:
        """Record that a client of the group has already reached the end of a partition at `offset`.
        `left` is the move of the table that the commit names; None: it names none.
        """
        if left is not None and left.set > self._followed.after:
            self._pages.setdefault(partition, _Page()).left = (offset, left)

    @property
    def any(self) -> bool:
        """Return whether a marker was read, or the end of a partition is known."""
        return bool(self._pages)

    def end(self, partition: Partition) -> int | None:
        """Return the offset after the last marker of a partition; None while a marker is
        missing.
        """
        page = self._pages.get(partition)
        return None if page is None or page.left is None else page.left[0]

    def left(self, partition: Partition) -> Departure | None:
        """Return the move of the table that the markers of a partition announce; None while a
        marker is missing.
        """
        page = self._pages.get(partition)
        return None if page is None or page.left is None else page.left[1]

    def first_marker(self, partition: Partition, before: int) -> int | None:
        """Return the offset of the first marker before offset `before`; None if there is none.

        If `before` is at or after the end of the partition, the markers that make this end are
        ignored. Markers of later moves count: they are needed if the table returns to the topic.
        """
        page = self._pages.get(partition)
        if page is None:
            return None
        ended = page.left is not None and before >= page.left[0]
        after = page.left[1].set if page.left is not None and ended else 0
        later = [each for number, each in page.offsets.items() if number > after]
        found = [at for each in later for at in each.values() if at < before]
        return min(found, default=None)

    def met(self, partition: Partition) -> bool:
        """Return whether markers of a partition were read."""
        page = self._pages.get(partition)
        return page is not None and bool(page.offsets)

    def missing(self) -> dict[str, list[Partition]]:
        """Return instance → the partitions in which its marker is missing, although they have other
        markers.
        """
        found: dict[str, list[Partition]] = {}
        for partition, page in self._pages.items():
            if page.left is None and page.offsets:
                for instance in sorted(self._missing(page, min(page.offsets))):
                    found.setdefault(instance, []).append(partition)
        return found

    def forget(self, partition: Partition) -> None:
        """Delete the stored markers of a revoked partition."""
        self._pages.pop(partition, None)

    def _missing(self, page: _Page, number: int) -> frozenset[str]:
        wanted = frozenset[str]().union(*(each.feeders for each in page.markers[number]))
        return wanted - frozenset(page.offsets[number]) - self._followed.gone
