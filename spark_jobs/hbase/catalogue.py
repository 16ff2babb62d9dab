"""Stores the metadata of the HBase copies: one row for each logical table in the table `_copies` of
the namespace.
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

    `instances` is empty if the copy can have rows of any number of instances.
    """

    instances: frozenset[str]
    newest: str


_NOT_ASKED: Final = Feed(frozenset(), "")


@dataclass(frozen=True, slots=True)
class KnownTable:
    """The stored metadata of a copy.

    versions      `mysqlType` texts of the table's versions that were seen, the newest last
    key_columns   columns of its key
    salt_buckets  number of salt buckets of its row keys; None: not stored
    instances     instances that published rows of it, as far as messages name them
    newest        greatest order of rows whose messages do not name the instance; empty: no such row
    """

    versions: Sequence[str]
    key_columns: Sequence[str]
    salt_buckets: int | None = None
    instances: Sequence[str] = ()
    newest: str = ""

    def with_versions(self, versions: Sequence[str], key_columns: Sequence[str]) -> "KnownTable":
        """Return a copy of the metadata to which those of `versions` that it lacks are added.

        `key_columns` replaces the stored key, unless it is empty.
        """
        fresh = [each for each in versions if each not in self.versions]
        return replace(
            self,
            versions=[*self.versions, *fresh],
            key_columns=list(key_columns or self.key_columns),
        )

    def fed_by(self, table: str, feed: Feed) -> "KnownTable":
        """Return the metadata with the instances of a batch added.

        `table` is the name for the error. Raises InstancesMixed if the copy then has several
        instances.
        """
        names = sorted({*self.instances, *feed.instances} - {UNNAMED})
        if len(names) > 1:
            raise InstancesMixed(
                f"{table} is published by the instances {', '.join(names)}, and this copy "
                "compares only execute positions (hbase.guard = 'version')."
            )
        unnamed = feed.newest if UNNAMED in feed.instances else ""
        return replace(self, instances=names, newest=max(self.newest, unnamed))

    def salted(self, table: str, salt_buckets: int) -> "KnownTable":
        """Return the metadata with the number of salt buckets of new rows set.

        Raises JobConfigurationError if existing rows have another number.
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
        """Return the metadata as the JSON text that HBase stores."""
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
        """Return the metadata in a text that the method `text` has returned."""
        return cls(**orjson.loads(text))


class Catalogue:
    """Reads and stores the metadata of copies. If two jobs store at the same time, no version is
    lost.
    """

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
        """Store the version of a batch's table, and the instances that feed it.

        HBase is read only if something changes.

        versions     `mysqlType` texts of the batch, the newest last
        key_columns  columns of the table's key
        feed         instances of the batch

        Raises JobConfigurationError for another number of salt buckets, and InstancesMixed.
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
        """Return the stored metadata of every copy, by logical table."""
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
