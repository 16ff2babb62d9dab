"""Records the progress of a first copy, so that an interrupted one can continue: one append-only
log (the notes) for each logical table.

Every line is a JSON object: `begin` (run, order keys), `round` (the ranges that are in the copy
now), `end` (number of removed keys). A line becomes visible as a whole, so a crash leaves the log
as it was before or after.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyspark.sql.functions as sf
from pyspark.sql import SparkSession

from relay.model.source_rows.key_range import Boundary
from spark_jobs.spark_util.optional_read import unless_absent


@dataclass(frozen=True, slots=True)
class ShardNote:
    """The progress of a shard: the ends of its ranges in order, and whether the last one is the end
    of the table.
    """

    boundaries: tuple[Boundary, ...] = ()
    finished: bool = False


@dataclass(frozen=True, slots=True)
class TableNote:
    """The progress of copying a logical table.

    pairs       instance → the `order` text of its rows
    rules       instance → the digest of its rules, from its position record
    shape       digest of shards, keys and target
    definition  digest of columns and keys, read before `pairs`; "" in notes of an older version
    sequence    number of lines
    """

    run: str
    pairs: Mapping[str, str]
    shards: Mapping[str, ShardNote] = field(default_factory=dict)
    rows: int = 0
    ended: bool = False
    sequence: int = 0
    rules: Mapping[str, str] = field(default_factory=dict)
    shape: str = ""
    definition: str = ""

    def shard(self, name: str) -> ShardNote:
        """Return the progress of one shard; an unknown shard has no ranges yet."""
        return self.shards.get(name, ShardNote())


def note_of(lines: Iterable[str]) -> TableNote | None:
    """Return the progress of the last run of one table; None if there was no run.

    `lines` are the JSON lines about this table, in any order.
    """
    records = sorted(
        (json.loads(line) for line in lines), key=lambda record: int(record["sequence"])
    )
    note: TableNote | None = None
    for record in records:
        note = _after(note, record)
    return note


def begin_line(
    before: TableNote | None,
    run: str,
    pairs: Mapping[str, str],
    rules: Mapping[str, str] | None = None,
    shape: str = "",
    definition: str = "",
) -> str:
    """Return the JSON line that begins a new run of the table and makes all lines before it
    invalid.

    before      the former progress; None: there is none
    run         id of the run
    pairs       instance → the `order` text of its rows
    rules       instance → digest of its rules
    shape       digest of shards, keys and target
    definition  digest of columns and keys, read before `pairs`
    """
    sequence = 0 if before is None else before.sequence
    return _line(
        "begin",
        sequence,
        run=run,
        pairs=dict(pairs),
        rules=dict(rules or {}),
        shape=shape,
        definition=definition,
    )


def round_line(note: TableNote, ranges: Sequence[tuple[str, Boundary | None]], rows: int) -> str:
    """Return the JSON line of a round.

    note    the progress before the round
    ranges  pairs of shard and end: the rows up to this end are in the copy. The end None stands for
            the end of the table
    rows    rows that the round wrote
    """
    return _line(
        "round",
        note.sequence,
        ranges=[{"shard": shard, "until": until} for shard, until in ranges],
        rows=rows,
    )


def end_line(note: TableNote, removed: int) -> str:
    """Return the JSON line that finishes a table. `removed` is the number of removed keys."""
    return _line("end", note.sequence, removed=removed)


class Notes:
    """Stores the progress of first copies in files below one folder or URI."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._spark = spark
        self._root = root.rstrip("/")

    def read(self, table: str) -> TableNote | None:
        """Return the progress of a logical table; None if no run of it was recorded."""
        lines = unless_absent(lambda: self._spark.read.text(self._path(table)))
        return None if lines is None else note_of(row["value"] for row in lines.collect())

    def add(self, table: str, before: TableNote | None, line: str) -> TableNote:
        """Append a line to the log of a table durably, and return the new progress of the table.

        before  the former progress; None: the line begins the first run
        """
        self._spark.range(1).select(sf.lit(line).alias("value")).coalesce(1).write.mode(
            "append"
        ).text(self._path(table))
        return _after(before, json.loads(line))

    def _path(self, table: str) -> str:
        return f"{self._root}/{table.encode().hex()}"


def _line(kind: str, sequence: int, **fields: object) -> str:
    return json.dumps({"kind": kind, "sequence": sequence + 1, **fields}, ensure_ascii=True)


def _after(note: TableNote | None, record: dict[str, Any]) -> TableNote:
    sequence = int(record["sequence"])
    if note is None or record["kind"] == "begin":
        texts = {name: record.get(name, "") for name in ("shape", "definition")}
        return TableNote(
            record["run"],
            record["pairs"],
            sequence=sequence,
            rules=record.get("rules", {}),
            **texts,
        )
    if record["kind"] == "end":
        return replace(note, ended=True, sequence=sequence)
    shards = dict(note.shards)
    for each in record["ranges"]:
        shards[each["shard"]] = _further(shards.get(each["shard"], ShardNote()), each["until"])
    return replace(note, shards=shards, rows=note.rows + record["rows"], sequence=sequence)


def _further(shard: ShardNote, until: Sequence[str] | None) -> ShardNote:
    if until is None:
        return ShardNote(shard.boundaries, finished=True)
    return ShardNote((*shard.boundaries, tuple(until)), finished=False)
