"""The baseline: a simple consumer with one thread. It calls HBase twice for each message: a get,
and after a comparison of the orders a checkAndPut.

There is one loop through the Thrift2 gateway and one through HBase's own client. A job is compared
with the loop that uses the same client.
"""

import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, Final

import orjson
import thriftpy2
from pyspark.sql import SparkSession
from thriftpy2.rpc import make_client

from spark_jobs.spark_util.jvm import java_class
from tools.bench.spark.changes import TIME_MS, Change, value_of

_IDL: Final = """
struct TColumn { 1: required binary family 2: optional binary qualifier }
struct TColumnValue { 1: required binary family 2: required binary qualifier 3: required binary value }
struct TResult { 1: optional binary row 2: required list<TColumnValue> columnValues }
struct TGet { 1: required binary row 2: optional list<TColumn> columns }
struct TPut { 1: required binary row 2: required list<TColumnValue> columnValues }
exception TIOError { 1: optional string message }
service THBaseService {
  TResult get(1: required binary table 2: required TGet tget) throws (1: TIOError io)
  bool checkAndPut(1: required binary table 2: required binary row 3: required binary family 4: required binary qualifier 5: binary value
    6: required TPut tput) throws (1: TIOError io)
}
"""  # noqa: E501
_idl: Final = thriftpy2.load_fp(io.StringIO(_IDL), "roma_classic_thrift")
_GUARDS: Final = b"update_info"
_TIMEOUT_MS: Final = 60_000


@dataclass(slots=True)
class ClassicLoop:
    """Applies messages to one existing table through a gateway.

    The messages are in memory. A consumer that also reads a broker would be slower.
    """

    table: bytes
    client: Any

    @classmethod
    def to(cls, address: str, table: bytes) -> "ClassicLoop":
        """Connect to an HBase gateway."""
        host, _, port = address.rpartition(":")
        return cls(table, make_client(_idl.THBaseService, host, int(port), timeout=_TIMEOUT_MS))

    def rows_per_second(self, changes: Iterable[Change]) -> float:
        """Apply the changes one after the other and return how many a second."""
        messages = [(value_of(key, order), order) for key, order in changes]
        began = monotonic()
        for value, order in messages:
            self._apply(orjson.loads(value)["data"][0], order)
        return len(messages) / (monotonic() - began)

    def _apply(self, columns: dict[str, str], order: int) -> None:
        row = columns["id"].encode()
        wanted = [
            _idl.TColumn(family=_GUARDS, qualifier=name)
            for name in (b"execute_time", b"execute_position")
        ]
        found = {
            cell.qualifier: cell.value
            for cell in self.client.get(self.table, _idl.TGet(row=row, columns=wanted)).columnValues
        }
        present = found.get(b"execute_position")
        if present is not None and (TIME_MS, order) < (int(found[b"execute_time"]), int(present)):
            return
        cells = [(b"info", name.encode(), value.encode()) for name, value in columns.items()]
        cells += [
            (_GUARDS, b"execute_time", b"%d" % TIME_MS),
            (_GUARDS, b"execute_position", b"%d" % order),
        ]
        values = [
            _idl.TColumnValue(family=family, qualifier=name, value=value)
            for family, name, value in cells
        ]
        put = _idl.TPut(row=row, columnValues=values)
        self.client.checkAndPut(self.table, row, _GUARDS, b"execute_position", present, put)


@dataclass(slots=True)
class JavaClassicLoop:
    """Applies messages to one existing table with HBase's own client.

    It runs in Spark's JVM, but does not use Spark.
    """

    loop: Any

    @classmethod
    def to(cls, spark: SparkSession, quorum: str, table: bytes) -> "JavaClassicLoop":
        """Compile the Java class, and connect to HBase."""
        compiler = java_class(spark, "org.codehaus.janino.SimpleCompiler")()
        compiler.setParentClassLoader(
            java_class(spark, "java.lang.Thread").currentThread().getContextClassLoader()
        )
        compiler.cook(
            "ClassicLoop.java",
            Path(__file__).with_name("ClassicLoop.java").read_text(encoding="utf-8"),
        )
        arguments = java_class(spark, "java.util.ArrayList")()
        for each in (quorum, table.decode(), java_class(spark, "java.lang.Long")(TIME_MS)):
            arguments.add(each)
        return cls(
            compiler.getClassLoader()
            .loadClass("ClassicLoop")
            .getConstructors()[0]
            .newInstance(arguments.toArray())
        )

    def rows_per_second(self, changes: Iterable[Change]) -> float:
        """Apply the changes one after the other and return how many a second."""
        messages = [f"{order} {value_of(key, order).decode()}\n" for key, order in changes]
        with TemporaryDirectory(prefix="roma-bench-") as folder:
            file = Path(folder) / "messages"
            file.write_text("".join(messages), encoding="utf-8")
            nanoseconds = int(self.loop.apply(str(file)))
        return len(messages) / (nanoseconds / 1e9)
