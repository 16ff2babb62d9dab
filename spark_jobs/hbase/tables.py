"""Creates the HBase tables of the copies when they are first written."""

from typing import Any, Final

from spark_jobs.config.hbase import HBaseSettings
from spark_jobs.errors import HBaseRefused
from spark_jobs.hbase.cells import INFO, UPDATE_INFO
from spark_jobs.hbase.connection import idl
from spark_jobs.hbase.gateway import Gateway
from spark_jobs.hbase.names import hbase_name
from spark_jobs.hbase.row_key import split_keys

_FAMILIES: Final = (INFO, UPDATE_INFO)
_FOR_EVER_S: Final = (1 << 31) - 1  # HBase's own word for a family whose cells stay
_NOT_KEPT: Final = frozenset({idl.TDurability.SKIP_WAL, idl.TDurability.ASYNC_WAL})


class Tables:
    """Creates missing HBase tables, and refuses tables that may lose rows without an error: with a
    time to live, or with the durability SKIP_WAL or ASYNC_WAL. Each table is checked once.

    The methods raise HBaseRefused for such a table, and if HBase refuses a request.
    """

    def __init__(self, gateway: Gateway, settings: HBaseSettings) -> None:
        self._gateway = gateway
        self._settings = settings
        self._present: set[bytes] = set()

    def ensure(self, table: str) -> bytes:
        """Return the full HBase name of a logical table's copy. The HBase table is created if it is
        missing.
        """
        name = hbase_name(table, self._settings.namespace)
        return self.ensure_named(name.partition(":")[2], split_keys(self._settings.salt_buckets))

    def ensure_named(self, qualifier: str, splits: list[bytes]) -> bytes:
        """Return the full HBase name of the table `qualifier` in the job's namespace. The table is
        created if it is missing.

        `splits` are the row keys at which a new table is cut into regions.
        """
        full = f"{self._settings.namespace}:{qualifier}".encode()
        if full not in self._present:
            name = idl.TTableName(
                ns=self._settings.namespace.encode(), qualifier=qualifier.encode()
            )
            if not self._gateway.ask("tableExists", tableName=name):
                self._make(name, splits)
            _check(full, self._gateway.ask("getTableDescriptor", table=name))
            self._present.add(full)
        return full

    def _make(self, name: object, splits: list[bytes]) -> None:
        """Create the table. Two jobs may both try; the second one finds it."""
        self._ensure_namespace()
        families = [idl.TColumnFamilyDescriptor(name=each, maxVersions=1) for each in _FAMILIES]
        try:
            self._gateway.ask(
                "createTable",
                desc=idl.TTableDescriptor(tableName=name, columns=families),
                splitKeys=splits or None,
            )
        except HBaseRefused:
            if not self._gateway.ask("tableExists", tableName=name):
                raise

    def _ensure_namespace(self) -> None:
        if self._settings.namespace in {
            each.name for each in self._gateway.ask("listNamespaceDescriptors")
        }:
            return
        try:
            self._gateway.ask(
                "createNamespace",
                namespaceDesc=idl.TNamespaceDescriptor(name=self._settings.namespace),
            )
        except HBaseRefused:
            if self._settings.namespace not in {
                each.name for each in self._gateway.ask("listNamespaceDescriptors")
            }:
                raise


def _check(name: bytes, table: Any) -> None:
    """Refuse tables of other programs that may lose rows silently.

    An HBase that reports no settings has none.
    """
    for family in table.columns or ():
        if family.timeToLive not in (None, _FOR_EVER_S):
            own = family.name.decode()
            limit = f"TTL => {family.timeToLive}, {own}"
            raise HBaseRefused(
                f"{name.decode()} has a time to live ({limit}), and the timestamps of copies "
                "are order keys, not times: HBase would delete rows. Remove it in HBase's shell "
                f"(alter '{name.decode()}', {{NAME => '{own}', TTL => 'FOREVER'}}). If HBase may "
                "have deleted rows of a copy already, make a new first copy."
            )
    if table.durability in _NOT_KEPT:
        word = idl.TDurability._VALUES_TO_NAMES[table.durability]  # noqa: SLF001 - thriftpy2 has no other way to the name
        raise HBaseRefused(
            f"{name.decode()} has DURABILITY => {word}: a region server could lose rows that the "
            "job has recorded as written. Set DURABILITY to USE_DEFAULT."
        )
