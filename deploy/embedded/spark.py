"""The jars that Spark needs beyond PySpark's own."""

from pathlib import Path

from deploy.embedded.jars import jars


def spark_jars() -> tuple[Path, ...]:
    """Return the Kafka source and Delta with what they need, to be given to Spark as `spark.jars`; fetched when missing."""
    return tuple(sorted(jars("spark").glob("*.jar")))
