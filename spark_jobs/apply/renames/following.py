"""Applies the column renames of a batch to the copies, after its TRUNCATEs and before any change of
the batch is written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame, SparkSession

from spark_jobs.apply.batch_summary import contents_of
from spark_jobs.apply.renames.names import Names, Rename, names_of
from spark_jobs.apply.renames.renamed_changes import renamed_changes
from spark_jobs.apply.renames.store import KeptRename, RenameStore, by_place, renames_above
from spark_jobs.apply.truncates.copy_rows import refused
from spark_jobs.apply.truncates.floors import Place
from spark_jobs.apply.truncates.following import Followed
from spark_jobs.apply.truncates.truncated_changes import judged_changes
from spark_jobs.sinks import Sink

_WHAT: Final = "had columns renamed"
_TOO_LATE: Final = (
    "had columns renamed before another rename that its copy has already followed: copy it "
    "with roma bootstrap --anew"
)
_UNKNOWN_CHANGE: Final = (
    " has a change that is older than a rename of its columns. The change does not name its "
    "real table, or is of the time before its instance became a group, so the names of its "
    "columns are unknown. Set message.headers = 'full' in the relay, and copy the table with "
    "roma bootstrap --anew"
)


class RenamingSink(Sink, Protocol):
    """A sink whose copies can rename the columns of one real table's rows."""

    def rename_columns(self, table: str, real_table: str, order: str, names: Names) -> None:
        """Rename columns in those rows of a real table that are older than the rename, all in one
        step.

        table       logical table
        real_table  the real table whose columns were renamed
        order       order key of the rename; rows with a smaller order key are older
        names       old name → new name

        A second call with the same order key does nothing.
        """
        ...


class RenameFollowing:
    """Applies renames of columns to the copies of one sink.

    A rename is stored before a row of a copy is changed, and marked as done afterwards. After a
    crash, it is repeated with the next batch; the copy itself shows whether its rows already have
    the names.
    """

    def __init__(self, spark: SparkSession, root: str, sink: RenamingSink) -> None:
        self._store = RenameStore(spark, root)
        self._sink = sink
        self._kept = list(self._store.read())

    def follow(self, followed: Followed) -> Followed:
        """Rename the copies' columns, and return the batch with its remaining changes under the new
        names.

        `followed` is the batch after its TRUNCATEs were applied.
        """
        contents, told = followed.contents, followed.contents.renames
        problems = self._problems(told)
        accepted = [each for each in told if each not in problems and names_of(each[1].text)]
        if news := sorted(set(accepted) - {(each.place, each.rename) for each in self._kept}):
            self._store.add(news)
            self._kept = sorted(
                [*self._kept, *(KeptRename(*each, done=False) for each in news)],
                key=lambda each: each.rename.order,
            )
        self._carry_out()
        concerned = renames_above(by_place(self._kept), contents.oldest_orders)
        if not (told or concerned):
            return followed
        changes = _without(followed.changes, problems)
        if concerned:
            floors = {place: renames[-1].order for place, renames in concerned.items()}
            changes = renamed_changes(judged_changes(changes, floors, _UNKNOWN_CHANGE), concerned)
        again = contents_of(changes) if concerned or problems else contents
        return replace(followed, changes=changes, contents=again, renames=len(accepted))

    def _carry_out(self) -> None:
        """Rename the rows in the copies, unless that is marked as done.

        A missing copy has no rows with old names.
        """
        left = [each for each in self._kept if not each.done]
        for place, rename, _ in left:
            if self._sink.read(place[0]) is not None:
                self._sink.rename_columns(*place, rename.order, names_of(rename.text))
        if left:
            self._store.finish(left)
            self._kept = [each._replace(done=True) for each in self._kept]

    def _problems(self, told: Sequence[tuple[Place, Rename]]) -> Mapping[tuple[Place, Rename], str]:
        """Return the renames of a batch that cannot be followed, each with the reason."""
        known = {(each.place, each.rename) for each in self._kept}
        news = [each for each in told if each not in known and names_of(each[1].text)]
        newest = {place: renames[-1].order for place, renames in by_place(self._kept).items()}
        late = {each: _TOO_LATE for each in news if each[1].order < newest.get(each[0], "")}
        floors = {place: rename.order for place, rename in sorted(news)}
        reasons = refused(self._sink, floors, _WHAT)
        return {**{each: reasons[each[0]] for each in news if each[0] in reasons}, **late}


def _without(changes: DataFrame, problems: Mapping[tuple[Place, Rename], str]) -> DataFrame:
    """Take out the renames, but for those that have a problem from now on."""
    told = sf.col("renamed").isNotNull() & sf.col("problem").isNull()
    if not problems:
        return changes.where(~told)
    sentence = sf.lit(None).cast("string")
    for ((table, real_table), rename), reason in problems.items():
        own = (
            (sf.col("table") == table)
            & (sf.col("real_table") == real_table)
            & (sf.col("order") == rename.order)
        )
        sentence = sf.when(own, sf.lit(f"table {table} {reason}")).otherwise(sentence)
    judged = changes.withColumn("problem", sf.when(told, sentence).otherwise(sf.col("problem")))
    unplaced = judged.withColumn("row", sf.when(sf.col("renamed").isNull(), sf.col("row")))
    return unplaced.where(sf.col("renamed").isNull() | sf.col("problem").isNotNull())
