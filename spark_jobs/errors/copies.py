"""Errors that prevent writing copies of any kind."""

from spark_jobs.errors.base import JobError


class SchemaChangeRefused(JobError):
    """A table changed in a way for which `schema_changes` has the value "stop"."""

    remedy = (
        "Nothing of the batch is lost. Prepare the readers of the copy, change the policy under "
        "[schema_changes], and start again."
    )


class InstancesMixed(JobError):
    """Several instances publish a table, and its copy is ordered by execute positions alone, which
    rise within one instance only.
    """

    remedy = (
        "Nothing of the batch is written. Give the copies hbase.guard = 'check_and_mutate', an "
        "hbase.namespace and a checkpoint of their own, or use another sink. If no row ever "
        "moves between the instances (key_scope = 'shard', or each key always stays in one "
        "shard), set hbase.several_instances = 'allow'. Then start again."
    )


class CheckpointOfOthers(JobError):
    """The checkpoint belongs to other copies. The present copies lack the batches that it records
    as applied.
    """

    remedy = (
        "Give new copies a new checkpoint: the topics are then read from the start. If the same "
        "copies were moved to the other location, remove the folder `copies` from the checkpoint, "
        "and start again."
    )


class CopiesKeptOtherwise(JobError):
    """The copies below `copy_root` are ordered by another rule than the job's, so that orders
    cannot be compared.
    """

    remedy = (
        "Set raw_rule, row_images and truncate to their former values. Or give the job its own "
        "copy_root (with hbase also a namespace, with jdbc a prefix) and its own checkpoint. To "
        "make these copies again by the new rule, remove them, the file `_kept` and the "
        "checkpoint, and start again."
    )


class CopiesUnguarded(JobError):
    """The store of the copies does not prevent two jobs from overwriting each other's commits."""

    remedy = (
        "For Delta, give Spark a log store for several drivers "
        "(spark.delta.logStore.s3a.impl). Otherwise set copy_writers = 'one' and run only one "
        "job at a time below copy_root: no first copy, repair or second stream beside a stream."
    )


class CopyBusy(JobError):
    """Another job holds the lock of a copy without transactions, and did not release it in time."""

    remedy = (
        "Wait for the end of that job, and start again. If it was killed and will not be started "
        "again, remove the lock file that the reason names."
    )
