"""Reads the table definition in a message: columns with their types, and the key."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql.types import DataType

from spark_jobs.transforms.mysql_types import spark_type, widest


@dataclass(frozen=True, slots=True)
class TableSchema:
    """One version of a table's definition.

    `text` is the message's `mysqlType` unchanged; empty if the message has none.
    """

    text: str
    mysql_types: Mapping[str, str]

    @classmethod
    def of(cls, mysql_type: str | None, names: Iterable[str] = ()) -> "TableSchema":
        """Return the definition in a message's `mysqlType`; None: the message has none.

        Columns that are only in `names` have the type text.
        """
        types = json.loads(mysql_type) if mysql_type else None
        known = (
            {str(name): str(text) for name, text in types.items()}
            if isinstance(types, dict)
            else {}
        )
        return cls(
            mysql_type or "", {**{name: "text" for name in names if name not in known}, **known}
        )

    def type_of(self, column: str) -> DataType | None:
        """Return the type that Spark uses for a column; None if this version does not have the
        column.
        """
        text = self.mysql_types.get(column)
        return None if text is None else spark_type(text)


def spellings(names: Iterable[str], present: Iterable[str] = ()) -> Mapping[str, Sequence[str]]:
    """Return column → the spellings of its name in changes.

    names    names in the changes
    present  names in the copy, which keep their spelling and come first

    MySQL and Spark treat `Name` and `name` as one column; the JSON of a message does not.
    """
    columns = {name.lower(): (name, [name]) for name in present}
    for name in names:
        _, known = columns.setdefault(name.lower(), (name, []))
        if name not in known:
            known.append(name)
    return dict(columns.values())


def column_types(versions: Sequence[TableSchema]) -> Mapping[str, DataType]:
    """Return a mapping from each column to a type that can hold its values in all of these
    versions.

    The columns are in the order of the newest version, which is the last one.
    """
    found: dict[str, DataType] = {}
    for column, names in spellings(
        name for version in reversed(versions) for name in version.mysql_types
    ).items():
        types = [
            kind
            for version in versions
            for name in names
            if (kind := version.type_of(name)) is not None
        ]
        found[column] = widest(*types)
    return found
