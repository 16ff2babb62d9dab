"""A small Spark job that loads the classes of most jobs: Delta, Parquet, JSON, joins and groups."""

import sys
import tempfile
from typing import Any, Final

import pyspark.sql.functions as sf
from pyspark.sql import SparkSession

from deploy.embedded.servers.spark import spark_jars

_SETTINGS: Final = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.sql.shuffle.partitions": "1",
    "spark.ui.enabled": "false",
}


def main() -> int:
    """Run the job, and wait until the JVM has ended; return the JVM's exit code, which is not 0 if
    it was killed while it wrote the archive.
    """
    builder = SparkSession.Builder().master("local[1]")
    builder = builder.config("spark.jars", ",".join(map(str, spark_jars())))
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    with tempfile.TemporaryDirectory(prefix="roma-spark-") as folder:
        _use(spark, f"{folder}/copy")
    context: Any = spark.sparkContext
    gateway = context._gateway  # noqa: SLF001 - the JVM writes the archive when it ends by itself
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    return int(gateway.proc.wait())


def _use(spark: SparkSession, copy: str) -> None:
    text = sf.format_string('{"id":"%d","n":{"a":"b"}}', sf.col("id"))
    rows = spark.range(10).select(
        sf.from_json(text, "id string, n map<string,string>").alias("row")
    )
    newest = rows.select("row.*").groupBy("id").agg(sf.max("n.a").alias("n")).persist()
    newest.write.format("delta").save(copy)
    there = spark.read.format("delta").load(copy)
    there.join(sf.broadcast(newest.select("id")), "id").orderBy("id").collect()
    newest.write.format("delta").mode("append").save(copy)
    newest.unpersist()


if __name__ == "__main__":
    sys.exit(main() != 0)
