"""Errors of the jobs.

JobError
├── JobConfigurationError   the configuration file, or what it names, is wrong
├── JavaRefused             Spark 4.0 runs on JDK 17 or 21
├── JarsRefused             a jar that Spark is given is not there, or is for another Spark
├── BrokerUnreachable       no broker answers
├── BrokerRefused           the broker refuses the login or the right to read
├── TopicUnknown            a topic does not exist
├── OffsetsLost             the topic no longer holds what the job has still to read
├── HBaseUnreachable        no Thrift2 gateway answers, or HBase itself does not
├── HBaseRefused            HBase refuses a request and will not take it later
├── HBaseStagingRefused     HBase and the executors do not see the same folder
├── HBaseClientMissing      Spark was not given HBase's Java client
├── UnreadableRowKey        a row of a copy has a key that the jobs did not write
├── MirrorUnreachable       the server of the copies does not answer
├── MirrorRefused           the server of the copies refuses the login or a statement
├── CheckpointOfOthers      the stream's checkpoint belongs to other copies
├── CopyBusy                another job writes a copy that has one writer at a time
├── RawRuleRefused          the raw rule needs headers that the messages have not
├── SchemaChangeRefused     a table changed in a way that the configuration says stop to
├── SourceUnreachable       a source server does not answer
├── SourceDriverMissing     Spark was not given the driver that sources are read with
├── SourceRefused           a source server refuses the login or the right to read
├── SourceNotTheOne         another server answers than the one that the instance's position belongs
to
├── SourcesIncomplete       a source of a group is not named, or not by its name, or a database of
the mapping is not seen
├── RulesDiffer             an instance publishes rows by other rules, masks or transforms than the
configuration says
├── TransformNotCopied      a function of the installation's own makes the rows of a table
├── PositionMissing         an instance has no position record yet
├── PositionUnknown         an instance's position record is of a newer version, or none
├── RelayBehind             an instance has not published what its source had committed before a
copy
├── TableUnknown            no source has a table for a logical name
├── TableChanged            a table got another definition, or was dropped, while it was read
├── TablesLeftOut           a first copy is done, but for tables that could not be copied
└── JobFailed               Spark ended the job for another reason
"""

from typing import ClassVar, Final


class JobError(Exception):
    """Root of the tree; `remedy` tells what to do."""

    remedy: ClassVar[str] = ""

    def __str__(self) -> str:
        return f"{self.args[0]} {self.remedy}".rstrip()


class JobConfigurationError(JobError):
    """The configuration file, or what it names, is wrong."""

    remedy = "Correct the configuration file and start again."


class JavaRefused(JobError):
    """The JDK is missing or not one that Spark runs on; the sentence ends with its own remedy."""


class JarsRefused(JobError):
    """A jar that Spark is given is not there or for another version, or a jar that it needs was not
    given.
    """

    remedy = (
        "Spark 4.0 needs io.delta:delta-spark_2.13:4.0.0, "
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0 and what these need. Correct "
        "`jars`, or leave it out and Spark fetches them; with spark-submit correct its "
        "--packages. Then start again."
    )


class BrokerUnreachable(JobError):
    """No broker of `bootstrap_servers` answers."""

    remedy = (
        "Check kafka.bootstrap_servers and the way there, and start again; the job goes on at its "
        "checkpoint."
    )


class BrokerRefused(JobError):
    """The broker refuses the login, or the right to read the topics."""

    remedy = (
        "Check kafka.client and kafka.jaas, and the access rights to the topics, and start again."
    )


class StatementsUnread(JobError):
    """The job follows TRUNCATEs, and the topic that they are published in is not among those that
    it reads.
    """

    remedy = (
        "Add it to kafka.topics, or leave truncate at 'quarantine', and start again; the job goes "
        "on at its checkpoint."
    )


class TopicUnknown(JobError):
    """A topic that the job reads does not exist."""

    remedy = (
        "Check kafka.topics. The relay makes a topic, and its `.ddl` topic, with the first row for "
        "it; start the job after that."
    )


class OffsetsLost(JobError):
    """The topic no longer holds offsets that the job has still to read: retention, or a topic made
    anew.
    """

    remedy = (
        "The copies lack these changes and stay as they are. The remedy is bootstrap: remove the "
        "checkpoint and start again, and let "
        "`roma bootstrap --anew` copy the tables from the source beside it. Then let the topics "
        "keep messages longer than the job may "
        "stand."
    )


class RawRuleRefused(JobError):
    """The raw rule compares binlog offsets, and the messages do not tell theirs."""

    remedy = (
        'Set message.headers = "full" in the relay, which adds the header source; messages from '
        "then on can be read by the raw rule."
    )


class SchemaChangeRefused(JobError):
    """A table changed in a way that the configuration says "stop" to."""

    remedy = (
        "Nothing of the batch is lost. Prepare the readers of the copy, change the policy under "
        "[schema_changes], and start again."
    )


class SourceUnreachable(JobError):
    """A source server does not answer, or ended the connection."""

    remedy = (
        "Check host and port of [[sources]] and the server, and start again; what was copied is "
        "kept. Where the server works on a query "
        "for longer, raise sources.read_timeout_seconds or lower range_rows."
    )


class SourceDriverMissing(JobError):
    """The JVM of Spark does not have MariaDB Connector/J, which reads the sources."""

    remedy = (
        "Add org.mariadb.jdbc:mariadb-java-client:3.5.6 to spark-submit's --packages, or its jar "
        "to `jars`, and start again."
    )


class SourceRefused(JobError):
    """A source server refuses the login, or a right."""

    remedy = "The user of [[sources]] needs SELECT on the relayed tables."


class SourceNotTheOne(JobError):
    """Another server answers than the one that the instance's position belongs to, so its pair says
    nothing about these rows.
    """

    remedy = "Name in [[sources]] the server that the instance reads now, and start again."


class SourcesIncomplete(JobError):
    """Sources of a group, or a database of the mapping, are not among [[sources]]: their keys would
    be deleted from the copies.
    """

    remedy = (
        "Name in [[sources]] every server that has shards of the tables, with a user that may "
        "SELECT from them, and every source of a "
        "group with the `name` that it has in [instances.group], and start again."
    )


class RulesDiffer(JobError):
    """An instance publishes rows by other rules, masks, transforms or lookups than the
    configuration says.
    """

    remedy = (
        "Give its [[sources]] the rules, masks, transforms and lookups of the instance, word for "
        "word and with the same salts. After a "
        "change of them, start again when the relay runs with them."
    )


class TransformNotCopied(JobError):
    """A function of the installation's own makes the rows of a table what they are in messages, and
    no SELECT goes through it.
    """

    remedy = (
        "Keep these tables out by filter_black_regex of [[sources]], or name the others with "
        "--table; the stream alone copies them."
    )


class PositionMissing(JobError):
    """An instance has no position record: it never published, so nothing would bring the changes
    that follow a copy.
    """

    remedy = (
        "Check installation and the instance's name; start the relay, wait until the instance "
        "runs, and start again."
    )


class PositionUnknown(JobError):
    """An instance's position record is of a newer format than this version of the jobs knows, or no
    such record.
    """

    remedy = "Use the jobs in the version of the relay that leads the instance, and start again."


class RelayBehind(JobError):
    """An instance has not published what its source had committed before the copy, so a schema
    change may lie after its order pair.
    """

    remedy = (
        "See `roma status` for the lag and the state of the instance, wait until it has caught "
        "up, and start again; "
        "bootstrap.patience_seconds is how long this job waits."
    )


class TableUnknown(JobError):
    """No source has a real table for a logical name."""

    remedy = (
        "Check the name, mapping, and filter and routing of [[sources]]; a table that its user may "
        "not SELECT from is not seen."
    )


class TableChanged(JobError):
    """A table got other columns or another key, or was dropped, after its order pair was read."""

    remedy = (
        "Start again: this table is copied again under a fresh order pair, and what is finished of "
        "other tables is kept."
    )


class TablesLeftOut(JobError):
    """Some tables could not be copied; the others were, as far as the job was not ended."""

    remedy = (
        "Remedy what each of them names, and start again: finished tables are not copied again."
    )


class JobFailed(JobError):
    """Spark ended the job for a reason that has no name here."""

    remedy = "Start again with --trace to see all that Spark says."


class HBaseUnreachable(JobError):
    """For `hbase.patience_seconds` no gateway answered, or HBase itself did not."""

    remedy = (
        "Check hbase.thrift, hbase.quorum and HBase, and start again; the batch is written again, "
        "which changes nothing that is there."
    )


class HBaseRefused(JobError):
    """HBase refuses a request in a way that trying again would not change."""

    remedy = "Correct the table or the rights in HBase, and start again."


class HBaseStagingRefused(JobError):
    """The executors cannot write files into `hbase.files.staging`, or HBase does not see them
    there.
    """

    remedy = (
        "Name a folder on the filesystem of hbase.rootdir, as HBase itself calls it, that the "
        "job and HBase's own user may both write to; "
        "region servers tell their logs what they could not do ('Failed to complete bulk load'). "
        "Then start again."
    )


class HBaseClientMissing(JobError):
    """The JVM of Spark does not have HBase's Java client, which `hbase.client = "jvm"` writes
    with.
    """

    remedy = (
        "Add org.apache.hbase:hbase-shaded-mapreduce:2.6.4-hadoop3 to spark-submit's --packages, "
        "or its jars to `jars`, and start again."
    )


class UnreadableRowKey(JobError):
    """A row of a copy has a key that the jobs cannot have written."""

    remedy = (
        "Somebody else writes to the table, or hbase.salt_buckets was changed: give the copies a "
        "namespace of their own, or copy anew."
    )


class CheckpointOfOthers(JobError):
    """The checkpoint has batches that are in other copies: these would lack them."""

    remedy = (
        "Give new copies a new checkpoint: the topics are then read from the start. If they are "
        "the same copies that moved, remove the "
        "folder `copies` from the checkpoint, and start again."
    )


class CopiesKeptOtherwise(JobError):
    """The copies below `copy_root` are kept by another rule than the job's: it would compare orders
    that cannot be compared.
    """

    remedy = (
        "Set raw_rule, row_images and truncate as they were, or give the job a copy_root (with "
        "hbase a namespace too, with jdbc a prefix) "
        "and a checkpoint of its own. To keep these copies by the new rule, remove them and the "
        "file `_kept`, and read the topics anew."
    )


class CopiesUnguarded(JobError):
    """The place of the copies does not keep two jobs apart that commit at the same time."""

    remedy = (
        "Delta: give Spark a log store for several drivers (spark.delta.logStore.s3a.impl). "
        "Otherwise set copy_writers = 'one' and run one "
        "job at a time below copy_root: no first copy, repair or second stream beside a stream."
    )


class CopyBusy(JobError):
    """Another job writes a copy that has no transactions, and did not end its turn in time."""

    remedy = (
        "Wait for that job, and start again. If it was killed and does not come back, remove the "
        "file."
    )


class MirrorUnreachable(JobError):
    """For `mirror.patience_seconds` the server of the copies did not answer."""

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


OF_ONE_TABLE: Final = (
    CopyBusy,
    HBaseRefused,
    JobFailed,
    MirrorRefused,
    SchemaChangeRefused,
    SourceRefused,
    SourcesIncomplete,
    TableChanged,
    UnreadableRowKey,
)
"""Errors in copying a table that do not say that other tables cannot be copied."""
