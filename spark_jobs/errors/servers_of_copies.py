"""Errors that prevent writing to HBase, or to the MySQL or MariaDB server of the copies."""

from spark_jobs.errors.base import JobError


class HBaseUnreachable(JobError):
    """No Thrift2 gateway answered for `hbase.patience_seconds`, or HBase itself did not answer."""

    remedy = (
        "Check hbase.thrift, hbase.quorum and HBase, and start again. The batch is written again; "
        "rows that were already written stay as they are."
    )


class HBaseRefused(JobError):
    """HBase refuses a request, and a repetition would not change that."""

    remedy = "Correct the table or the rights in HBase, and start again."


class HBaseStagingRefused(JobError):
    """The executors cannot write files into `hbase.files.staging`, or HBase does not see them
    there.
    """

    remedy = (
        "Set hbase.files.staging to a folder on the filesystem of hbase.rootdir, with the URI that "
        "HBase uses, to which the job and HBase's user may write. Then start again. Region "
        "servers log the cause ('Failed to complete bulk load')."
    )


class UnreadableRowKey(JobError):
    """A row of an HBase copy has a key that the jobs cannot have written."""

    remedy = (
        "Another program writes to the table, or hbase.salt_buckets was changed: set "
        "hbase.salt_buckets to its former value, or give the copies a separate namespace and copy "
        "the tables again."
    )


class MirrorUnreachable(JobError):
    """The server of the copies did not answer for `mirror.patience_seconds`."""

    remedy = (
        "Check mirror.host and the server, and start again. The batch is written again; rows that "
        "were already written stay as they are."
    )


class MirrorRefused(JobError):
    """The server of the copies refuses the login or a statement."""

    remedy = (
        "Correct the account's rights (CREATE, ALTER, SELECT, INSERT, UPDATE, DELETE) or the "
        "table, and start again."
    )
