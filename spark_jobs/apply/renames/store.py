"""Stores the renames of each real table that copies follow, in a Delta table of the job."""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Final, NamedTuple, TypeAlias

import pyspark.sql.functions as sf
from delta.tables import DeltaTable
from pyspark.sql import SparkSession

from spark_jobs.apply.renames.names import Rename
from spark_jobs.apply.truncates.floors import Place
from spark_jobs.sinks.local_lock import alone

Renames: TypeAlias = Mapping[Place, Sequence[Rename]]
_FOLDER: Final = "_renames"
_SCHEMA: Final = "table string, real_table string, order string, renamed string, done boolean"


class KeptRename(NamedTuple):
    """A stored rename of columns.

    place   the logical and the real table whose columns were renamed
    rename  the rename
    done    True: the rows that the copy had at the time of the rename have the new names
    """

    place: Place
    rename: Rename
    done: bool


class RenameStore:
    """Stores the renames of all copies below one root.

    No rename is ever removed, because late changes need it.
    """

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._spark = spark
        self._path = f"{root.rstrip('/')}/{_FOLDER}"

    def read(self) -> Sequence[KeptRename]:
        """Return the stored renames, sorted by order key."""
        if not DeltaTable.isDeltaTable(self._spark, self._path):
            return ()
        rows = self._spark.read.format("delta").load(self._path).orderBy("order").collect()
        return [
            KeptRename(
                (row["table"], row["real_table"]), Rename(row["order"], row["renamed"]), row["done"]
            )
            for row in rows
        ]

    def add(self, news: Iterable[tuple[Place, Rename]]) -> None:
        """Store renames. Call it before any row of a copy is changed.

        `news` has the renames, each with its logical and its real table. Renames that are already
        stored stay unchanged.
        """
        rows = self._spark.createDataFrame(
            [(*place, *rename, False) for place, rename in news], _SCHEMA
        ).coalesce(1)
        with alone(self._spark, self._path):
            if not DeltaTable.isDeltaTable(self._spark, self._path):
                rows.write.format("delta").mode("errorifexists").save(self._path)
                return
            same = (
                "kept.table = news.table AND kept.real_table = news.real_table AND kept.order = "
                "news.order"
            )
            kept = DeltaTable.forPath(self._spark, self._path).alias("kept")
            kept.merge(rows.alias("news"), same).whenNotMatchedInsertAll().execute()

    def finish(self, done: Iterable[KeptRename]) -> None:
        """Record that the rows of the copies have the new names of the renames `done`."""
        own = [
            (sf.col("table") == table)
            & (sf.col("real_table") == real_table)
            & (sf.col("order") == rename.order)
            for (table, real_table), rename, _ in done
        ]
        with alone(self._spark, self._path):
            DeltaTable.forPath(self._spark, self._path).update(
                reduce(or_, own), {"done": sf.lit(True)}
            )


def by_place(kept: Iterable[KeptRename]) -> Renames:
    """Return the stored renames: (logical, real table) → its renames, sorted by order key."""
    found: dict[Place, list[Rename]] = {}
    for each in kept:
        found.setdefault(each.place, []).append(each.rename)
    return {place: sorted(renames) for place, renames in found.items()}


def renames_above(renames: Renames, oldest_orders: Mapping[str, str]) -> Renames:
    """Return the renames of those real tables that may have a change older than a rename.

    renames        (logical, real table) → its renames, sorted by order key
    oldest_orders  logical table → smallest order key of its changes in the batch
    """
    return {
        place: each
        for place, each in renames.items()
        if place[0] in oldest_orders and each[-1].order > oldest_orders[place[0]]
    }
