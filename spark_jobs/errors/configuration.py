"""Errors of the configuration, or of the Spark that runs the job."""

from spark_jobs.errors.base import JobError


class JobConfigurationError(JobError):
    """The configuration file, or an object that it names, is wrong."""

    remedy = "Correct the configuration file and start again."


class JavaRefused(JobError):
    """The JDK is missing or has a version that Spark does not support; the reason contains the
    remedy.
    """


class JarsRefused(JobError):
    """A jar in Spark's configuration is missing or for another version, or a required jar was
    not given.
    """

    remedy = (
        "Spark 4.0 needs io.delta:delta-spark_2.13:4.0.0, "
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0 and the jars that these need. Correct "
        "`jars`, or remove `jars`, so that Spark downloads them; with spark-submit correct its "
        "--packages. Then start again."
    )


class SourceDriverMissing(JobError):
    """Spark's JVM does not have MariaDB Connector/J, which is needed to read the sources."""

    remedy = (
        "Add org.mariadb.jdbc:mariadb-java-client:3.5.6 to spark-submit's --packages, or its jar "
        "to `jars`, and start again."
    )


class HBaseClientMissing(JobError):
    """Spark's JVM does not have HBase's Java client, which is needed with `hbase.client =
    "jvm"`.
    """

    remedy = (
        "Add org.apache.hbase:hbase-shaded-mapreduce:2.6.4-hadoop3 to spark-submit's --packages, "
        "or its jars to `jars`, and start again."
    )
