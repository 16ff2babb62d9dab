"""Errors that prevent writing to HBase, or to the MySQL or MariaDB server of the copies."""

from spark_jobs.errors.base import JobError


class HBaseUnreachable(JobError):
    """No Thrift2 gateway answered for `hbase.patience_seconds`, or HBase itself did not answer."""

    remedy = (
        "Check hbase.thrift, hbase.quorum and HBase, and start again; the batch is written again, "
        "which changes nothing that is there."
    )


class HBaseRefused(JobError):
    """HBase refuses a request, and a repetition would not change that."""

    remedy = "Correct the table or the rights in HBase, and start again."


class HBaseStagingRefused(JobError):
    """The executors cannot write files into `hbase.files.staging`, or HBase does not see them
    there.
    """

    remedy = (
        "Name a folder on the filesystem of hbase.rootdir, as HBase itself calls it, that the "
        "job and HBase's own user may both write to; "
        "region servers log their failures ('Failed to complete bulk load'). "
        "Then start again."
    )


class UnreadableRowKey(JobError):
    """A row of an HBase copy has a key that the jobs cannot have written."""

    remedy = (
        "Another program writes to the table, or hbase.salt_buckets was changed: give the copies a "
        "separate namespace, or copy again."
    )


class MirrorUnreachable(JobError):
    """The server of the copies did not answer for `mirror.patience_seconds`."""

    remedy = (
        "Check mirror.host and the server, and start again; the batch is written again, which "
        "changes nothing that is there."
    )


class MirrorRefused(JobError):
    """The server of the copies refuses the login or a statement."""

    remedy = (
        "Correct the account's rights (CREATE, ALTER, SELECT, INSERT, UPDATE, DELETE) or the "
        "table, and start again."
    )
