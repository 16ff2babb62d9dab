"""Java classes of the jobs, compiled when a job first uses them.

The packages hold their source. Janino, the compiler that Spark brings for its generated code,
compiles them, so neither the wheel nor the machine needs a JDK. Spark sends them to its executors
in a jar. Janino supports neither lambdas nor type arguments, so the classes have none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Any, Final
from zipfile import ZipFile

from pyspark import SparkContext
from pyspark.sql import SparkSession

from spark_jobs.spark_util.jvm import java_class

_ONE_AT_A_TIME: Final = Lock()
"""Two compilations give two classes of each name, and an object of one is none of the other."""


@dataclass(frozen=True, slots=True)
class JavaSources:
    """Java classes of one Python package, in its folder `java`.

    holder   name of the Python package
    package  name of the Java package
    names    names below the Java package, sorted so that each class needs only earlier ones
    """

    holder: str
    package: str
    names: Sequence[str]

    def compiled(self, context: SparkContext) -> Any:
        """Compile the classes, send them to Spark's executors, and return the Java class loader
        that has them.
        """
        with _ONE_AT_A_TIME:
            return _compiled(self, context, str(context.applicationId))

    def made(self, spark: SparkSession, name: str, *arguments: object) -> Any:
        """Return a new Java object of one of the classes.

        Dicts and lists among the arguments are converted to Java's.
        """
        context = spark.sparkContext
        constructor = _constructor(self, context, str(context.applicationId), name)
        return constructor.newInstance(
            java_class(spark, "java.util.ArrayList")(arguments).toArray()
        )


@cache
def _constructor(sources: JavaSources, context: SparkContext, _application: str, name: str) -> Any:
    """Return the constructor of a class, as an object of Java's reflection."""
    loader = sources.compiled(context)
    return loader.loadClass(f"{sources.package}.{name}").getConstructors()[0]


@cache
def _compiled(sources: JavaSources, context: SparkContext, _application: str) -> Any:
    """Return the class loader, one for each application.

    A session that is opened again in the same process may have another JVM or other executors.
    """
    janino = java_class(context, "org.codehaus.janino.SimpleCompiler")
    loader = java_class(context, "java.lang.Thread").currentThread().getContextClassLoader()
    classes: dict[str, bytes] = {}
    for name in sources.names:
        compiler = janino()
        compiler.setParentClassLoader(loader)
        source = f"{name.replace('.', '/')}.java"
        text = files(sources.holder).joinpath("java", source).read_text(encoding="utf-8")
        compiler.cook(source, text)
        loader = compiler.getClassLoader()
        classes.update(compiler.getBytecodes())
    jar = Path(context._temp_dir) / f"{sources.package}.jar"  # noqa: SLF001 - Spark's own folder for what it hands out, gone when it ends
    with ZipFile(jar, "w") as archive:
        for name, code in classes.items():
            archive.writestr(f"{name.replace('.', '/')}.class", code)
    context._jsc.addJar(str(jar))  # noqa: SLF001
    return loader
