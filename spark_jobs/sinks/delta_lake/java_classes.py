"""The Java classes of this package, which write files of many copies in one Spark job."""

from typing import Final

from spark_jobs.spark_util.java_sources import JavaSources

SOURCES: Final = JavaSources(
    "spark_jobs.sinks.delta_lake",
    "roma.delta",
    ("RowShape", "CopyFiles", "HeldRow", "FileRows", "HeldColumns", "OpenShape", "NewFile",
     "TableRewrite", "Rewriter"),
)  # fmt: skip
