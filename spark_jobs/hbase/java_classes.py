"""The Java classes of this package, compiled when a job first uses them.

The package holds their source. Janino, the compiler that Spark brings for its generated code,
compiles them, so neither the wheel nor the machine needs a JDK. Spark sends them to its executors
in a jar. Janino supports neither lambdas nor type arguments, so the classes have none.
"""

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final
from zipfile import ZipFile

from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from spark_jobs.errors import HBaseClientMissing
from spark_jobs.spark_util.jvm import java_class

_PACKAGE: Final = "roma.hbase"
_NAMES: Final = (
    "RowKey", "Change", "Refusal", "Connections", "Guard", "ByVersion", "ByCheck", "Call", "Writer",
    "RowKeys", "files.Borders", "files.NoCounters", "files.RegionFiles", "files.FileWriter",
    "files.FileLoad", "files.Staging",
)  # fmt: skip
"""Names below the package, sorted so that each class needs only earlier ones."""
_NEEDED: Final = (
    "org.apache.hadoop.hbase.client.AsyncTable",
    "org.apache.hadoop.hbase.tool.BulkLoadHFilesTool",
)


def compiled(spark: SparkSession) -> None:
    """Compile the classes and send them to Spark's executors. Raises HBaseClientMissing."""
    _loader_of(spark)


def made(spark: SparkSession, name: str, *arguments: object) -> Any:
    """Return a new Java object of one of these classes, such as `files.Staging`.

    Dicts and lists among the arguments are converted to Java's. Raises HBaseClientMissing.
    """
    given = java_class(spark, "java.util.ArrayList")(arguments).toArray()
    return _loader_of(spark).loadClass(f"{_PACKAGE}.{name}").getConstructors()[0].newInstance(given)


def _loader_of(spark: SparkSession) -> Any:
    """Return the Java class loader that has the classes."""
    return _compiled(spark.sparkContext, str(spark.sparkContext.applicationId))


@cache
def _compiled(context: SparkContext, _application: str) -> Any:
    """Return the class loader, one for each application.

    A session that is opened again in the same process may have another JVM or other executors.
    """
    janino = java_class(context, "org.codehaus.janino.SimpleCompiler")
    loader = java_class(context, "java.lang.Thread").currentThread().getContextClassLoader()
    _check_client(loader)
    classes: dict[str, bytes] = {}
    for name in _NAMES:
        compiler = janino()
        compiler.setParentClassLoader(loader)
        source = f"{name.replace('.', '/')}.java"
        compiler.cook(
            source, files("spark_jobs.hbase").joinpath("java", source).read_text(encoding="utf-8")
        )
        loader = compiler.getClassLoader()
        classes.update(compiler.getBytecodes())
    jar = Path(context._temp_dir) / "roma-hbase.jar"  # noqa: SLF001 - Spark's own folder for what it hands out, gone when it ends
    with ZipFile(jar, "w") as archive:
        for name, code in classes.items():
            archive.writestr(f"{name.replace('.', '/')}.class", code)
    context._jsc.addJar(str(jar))  # noqa: SLF001
    return loader


def _check_client(loader: Any) -> None:
    for needed in _NEEDED:
        try:
            loader.loadClass(needed)
        except Py4JJavaError as exc:
            raise HBaseClientMissing(f"hbase.client = 'jvm': Spark's JVM has no {needed}.") from exc
