"""Errors of the jobs.

JobError
├── JobConfigurationError  the configuration file, or what it names, is wrong
├── JavaRefused            Spark 4.0 runs on JDK 17 or 21
├── JarsRefused            a jar for Spark is missing, or is for another Spark
├── BrokerUnreachable      no broker answers
├── BrokerRefused          the broker refuses the login or the right to read
├── TopicUnknown           a topic does not exist
├── OffsetsLost            the topic no longer has records that the job must read
├── FormatNotRead          the topic holds messages in a format that the jobs do not read
├── RawRuleRefused         the raw rule needs headers that the messages do not have
├── StatementsUnread       the job follows TRUNCATEs and does not read their topic
├── HBaseUnreachable       no Thrift2 gateway answers, or HBase itself does not
├── HBaseRefused           HBase refuses a request and will not accept it later
├── HBaseStagingRefused    HBase and the executors do not see the same folder
├── HBaseClientMissing     Spark has no Java client of HBase
├── UnreadableRowKey       a row of a copy has a key that the jobs did not write
├── MirrorUnreachable      the server of the copies does not answer
├── MirrorRefused          the server of the copies refuses the login or a statement
├── CheckpointOfOthers     the stream's checkpoint belongs to other copies
├── CopiesKeptOtherwise    the copies are ordered by another rule than the job's
├── CopiesUnguarded        two jobs could overwrite each other's commits in the store of the copies
├── CopyBusy               another job holds the lock of a copy that has one writer at a time
├── InstancesMixed         several instances publish a table of HBase copies by `version`
├── SchemaChangeRefused    a table changed, and the setting for such changes is "stop"
├── SourceUnreachable      a source server does not answer
├── SourceDriverMissing    Spark has no driver for the sources
├── SourceRefused          a source server refuses the login or the right to read
├── SourceNotTheOne        another server answers than the one of the instance's position
├── SourcesIncomplete      a source of a group is missing, or no source has a mapped database
├── RulesDiffer            the instance has other rules, masks or transforms than the job
├── TransformNotCopied     a user's function makes the rows of a table
├── PositionMissing        an instance has no position record yet
├── PositionUnknown        an instance's position record has a newer format, or is invalid
├── RelayBehind            an instance has not published what its source had committed
├── TableUnknown           no source has a table for a logical name
├── TableChanged           a table got another definition, or was dropped, during the copy
│   └── TableSwapped       another table had the name of a table while its rows were read
├── TablesLeftOut          a first copy is done, except for tables that could not be copied
└── JobFailed              Spark ended the job for another reason
"""

from typing import Final

from spark_jobs.errors.base import (
    JobError,
    JobFailed,
)
from spark_jobs.errors.configuration import (
    HBaseClientMissing,
    JarsRefused,
    JavaRefused,
    JobConfigurationError,
    SourceDriverMissing,
)
from spark_jobs.errors.copies import (
    CheckpointOfOthers,
    CopiesKeptOtherwise,
    CopiesUnguarded,
    CopyBusy,
    InstancesMixed,
    SchemaChangeRefused,
)
from spark_jobs.errors.servers_of_copies import (
    HBaseRefused,
    HBaseStagingRefused,
    HBaseUnreachable,
    MirrorRefused,
    MirrorUnreachable,
    UnreadableRowKey,
)
from spark_jobs.errors.sources import (
    PositionMissing,
    PositionUnknown,
    RelayBehind,
    RulesDiffer,
    SourceNotTheOne,
    SourceRefused,
    SourcesIncomplete,
    SourceUnreachable,
    TableChanged,
    TablesLeftOut,
    TableSwapped,
    TableUnknown,
    TransformNotCopied,
)
from spark_jobs.errors.topics import (
    BrokerRefused,
    BrokerUnreachable,
    FormatNotRead,
    OffsetsLost,
    RawRuleRefused,
    StatementsUnread,
    TopicUnknown,
)

OF_ONE_TABLE: Final = (
    CopyBusy,
    HBaseRefused,
    InstancesMixed,
    JobFailed,
    MirrorRefused,
    SchemaChangeRefused,
    SourceRefused,
    SourcesIncomplete,
    TableChanged,
    UnreadableRowKey,
)
"""Errors in copying one table after which the job still copies the other tables."""

__all__ = [
    "OF_ONE_TABLE",
    "BrokerRefused",
    "BrokerUnreachable",
    "CheckpointOfOthers",
    "CopiesKeptOtherwise",
    "CopiesUnguarded",
    "CopyBusy",
    "FormatNotRead",
    "HBaseClientMissing",
    "HBaseRefused",
    "HBaseStagingRefused",
    "HBaseUnreachable",
    "InstancesMixed",
    "JarsRefused",
    "JavaRefused",
    "JobConfigurationError",
    "JobError",
    "JobFailed",
    "MirrorRefused",
    "MirrorUnreachable",
    "OffsetsLost",
    "PositionMissing",
    "PositionUnknown",
    "RawRuleRefused",
    "RelayBehind",
    "RulesDiffer",
    "SchemaChangeRefused",
    "SourceDriverMissing",
    "SourceNotTheOne",
    "SourceRefused",
    "SourceUnreachable",
    "SourcesIncomplete",
    "StatementsUnread",
    "TableChanged",
    "TableSwapped",
    "TableUnknown",
    "TablesLeftOut",
    "TopicUnknown",
    "TransformNotCopied",
    "UnreadableRowKey",
]
