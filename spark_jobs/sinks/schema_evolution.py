"""Decides how a copy's columns change when its table changes, for every kind of store."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql.types import (
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    TimestampNTZType,
)

from spark_jobs.config.job import SchemaPolicy
from spark_jobs.errors import SchemaChangeRefused
from spark_jobs.transforms import spellings, widest


@dataclass(frozen=True, slots=True)
class SchemaPlan:
    """The columns that a copy must have, and the steps that change its present columns to these.

    columns    name → type of all columns afterwards; the rows to write must have them
    added      columns to add
    widened    columns whose type the store can change itself
    rewritten  columns whose type can only be changed by rewriting the copy
    dropped    columns to remove
    """

    columns: Mapping[str, DataType]
    added: Sequence[str] = ()
    widened: Sequence[str] = ()
    rewritten: Sequence[str] = ()
    dropped: Sequence[str] = ()


def schema_plan(
    table: str,
    present: Mapping[str, DataType],
    seen: Mapping[str, DataType],
    gone: Iterable[str],
    policy: SchemaPolicy,
) -> SchemaPlan:
    """Return the plan that makes a copy fit for a batch of changes.

    table    logical table, for the text of errors
    present  the copy's columns now: name → type
    seen     the columns of the changes: name → type
    gone     names of the copy's columns that the table's newest definition does not have
    policy   the configured treatment of changed columns

    Raises SchemaChangeRefused if columns changed in a way for which `policy` has the value "stop".
    """
    names = {folded(name): name for name in present}
    kinds = {names.get(folded(name), name): kind for name, kind in seen.items()}
    added = tuple(name for name in spellings(kinds) if name not in present)
    retyped = {name: widest(present[name], kinds[name]) for name in present if name in kinds}
    changed = [name for name, kind in retyped.items() if kind != present[name]]
    dropped = tuple(gone)
    _refuse(table, "added", added, stop=policy.added == "stop")
    _refuse(table, "retyped", changed, stop=policy.retyped == "stop")
    _refuse(table, "dropped", dropped, stop=policy.dropped == "stop")
    dropped = dropped if policy.dropped == "drop" else ()
    added = added if policy.added == "add" else ()
    kept = {name: retyped.get(name, kind) for name, kind in present.items() if name not in dropped}
    return SchemaPlan(
        columns={**kept, **{name: kinds[name] for name in added}},
        added=added,
        widened=tuple(name for name in changed if widens_in_place(present[name], retyped[name])),
        rewritten=tuple(
            name for name in changed if not widens_in_place(present[name], retyped[name])
        ),
        dropped=dropped,
    )


def folded(name: str) -> str:
    """Return the name of a column in lower case, as MySQL and Spark compare names."""
    return name.lower()


def widens_in_place(old: DataType, new: DataType) -> bool:
    """Return whether Delta can change a column from the old to the new type without rewriting
    files.

    Source: Delta's documentation, "Type widening".
    """
    integers = (ByteType, ShortType, IntegerType, LongType)
    if isinstance(old, integers) and isinstance(new, integers):
        return True
    if isinstance(old, DecimalType) and isinstance(new, DecimalType):
        return new.scale >= old.scale and new.precision - new.scale >= old.precision - old.scale
    if isinstance(old, integers) and isinstance(new, DecimalType):
        return new.precision - new.scale >= (20 if isinstance(old, LongType) else 10)
    if isinstance(new, DoubleType):
        return isinstance(old, FloatType | ByteType | ShortType | IntegerType)
    return isinstance(old, DateType) and isinstance(new, TimestampNTZType)


def _refuse(table: str, what: str, columns: Sequence[str], *, stop: bool) -> None:
    if stop and columns:
        raise SchemaChangeRefused(
            f"Table {table} changed: {what} {', '.join(columns)}, and schema_changes.{what} is "
            f"'stop'."
        )
