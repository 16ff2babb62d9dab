"""Every error of the relay, as one tree. The recovery of an instance decides by the class.

RelayError
├── ConfigurationError              the configuration file contradicts itself or reality
│   ├── MappingRefused              a mapping document is broken or contradicts another
│   │   └── SaveTooLarge            the documents exceed the size of one ZooKeeper request
│   ├── StoreRefused                ZooKeeper refused the request: quota, a node in the way
│   │   └── StoreNotPermitted       the access rights of a node do not allow this login
│   ├── PartitionRuleRefused        a partitionHash rule cannot be read
│   └── ConditionRefused            the condition of a rule cannot be read
├── Unreachable                     a server does not answer; the instance waits and tries again
│   ├── SourceUnreachable           the database server cannot be reached
│   │   └── SourceSilent            it sends neither events nor heartbeats
│   ├── ServerIdContested           another replica has the same server_id
│   ├── StandbyBehind               the server to switch to lacks published transactions
│   ├── BrokerUnreachable           Kafka's brokers do not answer
│   │   └── ClockAhead              brokers refuse the time of this machine
│   ├── LookupUnreachable           the source does not answer the lookups of transforms
│   ├── ClaimStoreUnreachable       the store of claimed values does not answer
│   ├── RegistryUnreachable         the schema registry does not answer
│   ├── StoreUnreachable            ZooKeeper does not answer
│   │   ├── StoreLoginRefused       it answers, and refuses user or password
│   │   └── StoreTlsRefused         it answers, but no TLS connection can be made
│   ├── MappingLost                 ZooKeeper lacks the mapping set of published rows
│   ├── MappingMissing              no mapping was saved yet, and nothing was published
│   ├── PartitionsDiffer            another instance of the topic has other partition settings
│   └── FormatsDiffer               another instance of the topic has another format
├── Stop                            the instance stops until an operator acts
│   ├── SourceLoginRefused          the source refuses user or password
│   ├── SourceNotPermitted          the relay's account lacks a privilege
│   ├── SourceSettingsRefused       row image, metadata, binlog format, or the binary log is off
│   ├── ServerIdTaken               another replica of the source has this server_id
│   ├── BinlogPurged                the source no longer has the binlog at the position
│   ├── HistoryChanged              the binlog at the source's address is another one
│   ├── SourceLostTransactions      the source lacks published transactions
│   ├── SwitchRefused               another server cannot replace the source
│   │   ├── StandbyPurged           it no longer has the binlog of unpublished transactions
│   │   ├── StandbyDiverged         it has other transactions than those published
│   │   ├── StandbyLacks            it will not receive published transactions (by digests)
│   │   ├── PlaceAmbiguous          digests do not match exactly one position on it
│   │   └── SwitchNeedsGtid         without GTIDs nothing proves what it has
│   ├── CorruptEvent                the bytes of an event contradict themselves
│   ├── UnknownEvent                this relay does not know the type of an event
│   ├── UnsupportedEvent            an event of a known type cannot be published correctly
│   ├── PreparedUnknown             XA COMMIT of rows that were prepared before the start position
│   ├── SavepointRolledBack         a published part may count rolled-back rows
│   ├── SchemaMismatch              the table map differs from the known columns of the table
│   ├── RowImageIncomplete          a row lacks columns
│   ├── UnmappedName                a change has no mapping, and the settings require one
│   ├── RuleRefused                 a rule, mask or transform does not fit a table
│   ├── TransformFailed             a transform failed on a row
│   ├── PositionLost                the instance has published, and its position record is gone
│   ├── PositionUnreadable          the position topic or its last record cannot be read
│   │   └── PositionNewer           a newer version wrote the record and may lead
│   ├── PartitionsChanged           the partition settings of a topic differ from those used so far
│   ├── FormatChanged               the format of a topic differs from that of its messages
│   ├── TopicRefused                partition count, cleanup policy, retention, min.insync.replicas
│   ├── TransactionsRefused         broker maximum, forbidden transactions
│   ├── KafkaNotPermitted           the relay's principal lacks an access right in Kafka
│   ├── MessageTooLarge             a row is larger than Kafka accepts
│   ├── ValueNotPrintable           a row was read but cannot be encoded
│   ├── PrinterFailed               a bug of the relay while it encoded an event
│   ├── ClaimStoreRefused           the store of claimed values refused the request
│   ├── SchemaRefused               the schema registry refuses a schema
│   ├── RegistryRefused             the schema registry refused the request
│   ├── NameNotInFormat             the format has no such name for a table or column
│   └── DeliveryRefused             any other batch that a retry would not publish
├── ResourcesExhausted              the operating system refuses a thread, or memory for a client
├── NamesUnknown                    a table map without names differs from the known columns
├── RolledBackRows                  rows that the source rolled back; reading leaves them out
├── BatchAborted                    the Kafka transaction was aborted; the position is read again
│   ├── TransactionUnread           a part is due before its transaction was read to its end
│   ├── SwitchingSource             the instance switches to another server
│   ├── GoesToSpool                 events waited too long for Kafka and go to disk from now on
│   └── SpoolUnusable               the instance continues without the spool
├── Fenced                          a newer producer exists; join the election again
│   └── ProducerContested           fenced repeatedly, although this relay is the leader
├── LeadershipLost                  this relay is no longer the leader; join the election again
├── HandedOver                      another relay should run the instance
├── PlacementRefused                an instance cannot run where an operator wants it
├── AskedToStop                     a server did not answer before the relay had to end
├── AccountRefused                  a user or token of the admin cannot be changed as asked
├── MoveRefused                     the requested change of a position is not possible
├── TableReturnsEarly               a mapping gives a topic back before all instances have left it
├── SnapshotRefused                 a table cannot be copied into its topic as requested
├── SourceNotNamed                  the request must name a known source of the group
├── BackupRefused                   a backup is incomplete, newer, or would overwrite data
├── AuditUnreadable                 an audit entry cannot be parsed, or an open transaction hides it
├── ErasureRefused                  the erasure of a person cannot begin
├── ErasureInterrupted              an erasure lost the right to write in the middle
├── DeadLetterUnknown               no dead letter has this id
├── NothingToPeek                   no logical table of this name, or no topic for it yet
├── DeadLettersUnreadable           an open transaction hides the end of the dead letters
├── DeadLetterDamaged               a part of a dead letter is missing or damaged
├── ValueHidden                     a mask hides columns of a dead letter's value
├── ReplayRefused                   the dead letter cannot be sent, or was sent before
├── VersionConflict                 the document was changed since it was read
└── NodeMissing                     the ZooKeeper node does not exist
"""

from relay.errors.base import RelayError, Stop
from relay.errors.configuration import (
    ConditionRefused,
    ConfigurationError,
    MappingRefused,
    PartitionRuleRefused,
    SaveTooLarge,
    StoreNotPermitted,
    StoreRefused,
)
from relay.errors.dead_letters import DeadLetterDamaged, DeadLettersUnreadable, DeadLetterUnknown
from relay.errors.leadership import Fenced, HandedOver, LeadershipLost, ProducerContested
from relay.errors.operator_requests import (
    AccountRefused,
    AuditUnreadable,
    BackupRefused,
    MoveRefused,
    NodeMissing,
    NothingToPeek,
    PlacementRefused,
    ReplayRefused,
    SnapshotRefused,
    SourceNotNamed,
    TableReturnsEarly,
    VersionConflict,
)
from relay.errors.personal_data import ErasureInterrupted, ErasureRefused, ValueHidden
from relay.errors.process import AskedToStop, ResourcesExhausted
from relay.errors.publishing_stops import (
    ClaimStoreRefused,
    DeliveryRefused,
    FormatChanged,
    KafkaNotPermitted,
    MessageTooLarge,
    NameNotInFormat,
    PartitionsChanged,
    PositionLost,
    PositionNewer,
    PositionUnreadable,
    RegistryRefused,
    SchemaRefused,
    TopicRefused,
    TransactionsRefused,
)
from relay.errors.reread import (
    BatchAborted,
    GoesToSpool,
    NamesUnknown,
    RolledBackRows,
    SpoolUnusable,
    SwitchingSource,
    TransactionUnread,
)
from relay.errors.row_stops import (
    CorruptEvent,
    PreparedUnknown,
    PrinterFailed,
    RowImageIncomplete,
    RuleRefused,
    SavepointRolledBack,
    SchemaMismatch,
    TransformFailed,
    UnknownEvent,
    UnmappedName,
    UnsupportedEvent,
    ValueNotPrintable,
)
from relay.errors.source_stops import (
    BinlogPurged,
    HistoryChanged,
    PlaceAmbiguous,
    ServerIdTaken,
    SourceLoginRefused,
    SourceLostTransactions,
    SourceNotPermitted,
    SourceSettingsRefused,
    StandbyDiverged,
    StandbyLacks,
    StandbyPurged,
    SwitchNeedsGtid,
    SwitchRefused,
)
from relay.errors.unreachable import (
    BrokerUnreachable,
    ClaimStoreUnreachable,
    ClockAhead,
    FormatsDiffer,
    LookupUnreachable,
    MappingLost,
    MappingMissing,
    PartitionsDiffer,
    RegistryUnreachable,
    ServerIdContested,
    SourceSilent,
    SourceUnreachable,
    StandbyBehind,
    StoreLoginRefused,
    StoreTlsRefused,
    StoreUnreachable,
    Unreachable,
)

__all__ = [
    "AccountRefused",
    "AskedToStop",
    "AuditUnreadable",
    "BackupRefused",
    "BatchAborted",
    "BinlogPurged",
    "BrokerUnreachable",
    "ClaimStoreRefused",
    "ClaimStoreUnreachable",
    "ClockAhead",
    "ConditionRefused",
    "ConfigurationError",
    "CorruptEvent",
    "DeadLetterDamaged",
    "DeadLetterUnknown",
    "DeadLettersUnreadable",
    "DeliveryRefused",
    "ErasureInterrupted",
    "ErasureRefused",
    "Fenced",
    "FormatChanged",
    "FormatsDiffer",
    "GoesToSpool",
    "HandedOver",
    "HistoryChanged",
    "KafkaNotPermitted",
    "LeadershipLost",
    "LookupUnreachable",
    "MappingLost",
    "MappingMissing",
    "MappingRefused",
    "MessageTooLarge",
    "MoveRefused",
    "NameNotInFormat",
    "NamesUnknown",
    "NodeMissing",
    "NothingToPeek",
    "PartitionRuleRefused",
    "PartitionsChanged",
    "PartitionsDiffer",
    "PlaceAmbiguous",
    "PlacementRefused",
    "PositionLost",
    "PositionNewer",
    "PositionUnreadable",
    "PreparedUnknown",
    "PrinterFailed",
    "ProducerContested",
    "RegistryRefused",
    "RegistryUnreachable",
    "RelayError",
    "ReplayRefused",
    "ResourcesExhausted",
    "RolledBackRows",
    "RowImageIncomplete",
    "RuleRefused",
    "SaveTooLarge",
    "SavepointRolledBack",
    "SchemaMismatch",
    "SchemaRefused",
    "ServerIdContested",
    "ServerIdTaken",
    "SnapshotRefused",
    "SourceLoginRefused",
    "SourceLostTransactions",
    "SourceNotNamed",
    "SourceNotPermitted",
    "SourceSettingsRefused",
    "SourceSilent",
    "SourceUnreachable",
    "SpoolUnusable",
    "StandbyBehind",
    "StandbyDiverged",
    "StandbyLacks",
    "StandbyPurged",
    "Stop",
    "StoreLoginRefused",
    "StoreNotPermitted",
    "StoreRefused",
    "StoreTlsRefused",
    "StoreUnreachable",
    "SwitchNeedsGtid",
    "SwitchRefused",
    "SwitchingSource",
    "TableReturnsEarly",
    "TopicRefused",
    "TransactionUnread",
    "TransactionsRefused",
    "TransformFailed",
    "UnknownEvent",
    "UnmappedName",
    "Unreachable",
    "UnsupportedEvent",
    "ValueHidden",
    "ValueNotPrintable",
    "VersionConflict",
]
