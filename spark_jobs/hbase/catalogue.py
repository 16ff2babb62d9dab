"""The copies' metadata of their tables: one row per logical table in the table `_copies` of the
namespace.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import orjson

from spark_jobs.errors import InstancesMixed, JobConfigurationError
from spark_jobs.hbase.cells import INFO
from spark_jobs.hbase.connection import idl
from spark_jobs.hbase.gateway import ABSENT, Gateway, rows_of
from spark_jobs.hbase.instances import UNNAMED

QUALIFIER: Final = "_copies"  # names of copies have a dot in them
_SCHEMA: Final = b"schema"
_MOST_TABLES: Final = 100_000


class Feed(NamedTuple):
    """The instances of a batch's changes of one table, and the greatest order among them.

    No instances: the copy does not depend on them.
    """

    instances: frozenset[str]
    newest: str


_NOT_ASKED: Final = Feed(frozenset(), "")


@dataclass(frozen=True, slots=True)
class KnownTable:
    """The recorded facts about a copy.

    versions      `mysqlType` texts of the table's versions that were seen, the newest last
    key_columns   columns of its key
    salt_buckets  the salt of its row keys; None: not recorded
    instances     instances that published rows of it, as far as messages name them
    newest        greatest order of rows whose messages do not; empty: none
    """

    versions: Sequence[str]
    key_columns: Sequence[str]
    salt_buckets: int | None = None
    instances: Sequence[str] = ()
    newest: str = ""

    def with_versions(self, versions: Sequence[str], key_columns: Sequence[str]) -> "KnownTable":
        """Return this with versions that were seen later; the same if all are known."""
        fresh = [each for each in versions if each not in self.versions]
        return replace(
            self,
            versions=[*self.versions, *fresh],
            key_columns=list(key_columns or self.key_columns),
        )

    def fed_by(self, table: str, feed: Feed) -> "KnownTable":
        """Return this with the instances of a batch.

        Raises InstancesMixed if that are several.
        """
        names = sorted({*self.instances, *feed.instances} - {UNNAMED})
        if len(names) > 1:
            raise InstancesMixed(
                f"{table} is published by the instances {', '.join(names)}, and its copy compares "
                f"execute positions alone (hbase.guard = 'version')."
            )
        unnamed = feed.newest if UNNAMED in feed.instances else ""
        return replace(self, instances=names, newest=max(self.newest, unnamed))

    def salted(self, table: str, salt_buckets: int) -> "KnownTable":
        """Return this with the salt that rows are written with from now on.

        Raises JobConfigurationError if they have another.
        """
        if self.salt_buckets not in (None, salt_buckets):
            raise JobConfigurationError(
                f"{table} was written with hbase.salt_buckets = {self.salt_buckets}, and the "
                f"configuration file has {salt_buckets}: changed rows would exist twice, under "
                "two row keys. For another salt, give the copies an hbase.namespace of their "
                "own."
            )
        return replace(self, salt_buckets=salt_buckets)

    def text(self) -> bytes:
        """The entry as text, as HBase stores it."""
        return orjson.dumps(
            {
                "versions": list(self.versions),
                "key_columns": list(self.key_columns),
                "salt_buckets": self.salt_buckets,
                **({"instances": list(self.instances)} if self.instances else {}),
                **({"newest": self.newest} if self.newest else {}),
            }
        )

    @classmethod
    def of(cls, text: bytes) -> "KnownTable":
        """Read the result of `text`."""
        return cls(**orjson.loads(text))


class Catalogue:
    """Stores the versions of tables. If two jobs write at the same time, no version is lost."""

    def __init__(self, gateway: Gateway, name: bytes, salt_buckets: int) -> None:
        self._gateway = gateway
        self._name = name
        self._salt_buckets = salt_buckets
        self._seen: dict[str, bytes] = {}

    def note(
        self,
        table: str,
        versions: Sequence[str],
        key_columns: Sequence[str],
        feed: Feed = _NOT_ASKED,
    ) -> None:
        """Store the version of a batch's table, and the instances that feed it. HBase is read only
        for changes.

        Raises JobConfigurationError for another salt, and InstancesMixed.
        """
        before = self._seen.get(table)
        while True:
            known = KnownTable.of(before) if before is not None else KnownTable([], [])
            after = (
                known.salted(table, self._salt_buckets)
                .with_versions(versions, key_columns)
                .fed_by(table, feed)
                .text()
            )
            if after == before or self._replaced(table, before, after):
                self._seen[table] = after
                return
            before = self._kept().get(table)

    def all(self) -> Mapping[str, KnownTable]:
        """Return the stored tables, by logical table."""
        return {table: KnownTable.of(text) for table, text in self._kept().items()}

    def _kept(self) -> Mapping[str, bytes]:
        found = self._gateway.ask(
            "getScannerResults",
            table=self._name,
            tscan=idl.TScan(caching=1000),
            numRows=_MOST_TABLES,
        )
        return {row.decode(): cells[0][2] for row, cells in rows_of(found)}

    def _replaced(self, table: str, before: bytes | None, after: bytes) -> bool:
        """Replace the value unless another job changed it; return whether it was replaced."""
        row = table.encode()
        put = idl.TPut(
            row=row, columnValues=[idl.TColumnValue(family=INFO, qualifier=_SCHEMA, value=after)]
        )
        done: bool = self._gateway.ask(
            "checkAndMutate",
            table=self._name,
            row=row,
            family=INFO,
            qualifier=_SCHEMA,
            compareOp=idl.TCompareOp.EQUAL,
            value=ABSENT if before is None else before,
            rowMutations=idl.TRowMutations(row=row, mutations=[idl.TMutation(put=put)]),
        )
        return done
