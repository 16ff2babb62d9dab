"""Every error of the relay, as one tree.

RelayError
├── ConfigurationError              the configuration file contradicts itself or reality
│   ├── MappingRefused              a mapping document is broken or contradicts another
│   ├── StoreRefused                ZooKeeper understood and said no: access, quota, a node in the way
│   ├── PartitionRuleRefused        a partitionHash rule cannot be read
│   └── ConditionRefused            the condition of a rule cannot be read
├── Unreachable                     somebody does not answer; the instance waits and tries again
│   ├── SourceUnreachable
│   ├── SourceSilent
│   ├── StandbyBehind               the server that shall be read next lacks what was published
│   ├── BrokerUnreachable
│   ├── LookupUnreachable           who answers the lookups of transforms does not
│   ├── ClaimStoreUnreachable       what holds the values of claims does not answer
│   ├── StoreUnreachable            ZooKeeper
│   └── MappingLost                 ZooKeeper answers, and holds no mapping any more
├── Stop                            the instance stands still until an operator acts
│   ├── SourceLoginRefused
│   ├── SourceNotPermitted
│   ├── SourceSettingsRefused       row image, metadata, binlog format, binary log off
│   ├── ServerIdTaken
│   ├── BinlogPurged
│   ├── HistoryChanged
│   ├── SourceLostTransactions
│   ├── SwitchRefused               another server cannot take the source's place
│   │   ├── StandbyPurged
│   │   ├── StandbyDiverged
│   │   ├── StandbyLacks
│   │   ├── PlaceAmbiguous
│   │   └── SwitchNeedsGtid
│   ├── CorruptEvent
│   ├── UnknownEvent
│   ├── UnsupportedEvent            known, but not yet built
│   ├── PreparedUnknown             XA COMMIT of rows that were prepared before the relay read
│   ├── SavepointRolledBack         rows already published in part were rolled back
│   ├── SchemaMismatch
│   ├── RowImageIncomplete
│   ├── UnmappedName
│   ├── RuleRefused                 a rule, mask or transform cannot hold for a table
│   ├── TransformFailed             a transform cannot take a row
│   ├── PositionLost
│   ├── PositionUnreadable
│   │   └── PositionNewer           a newer version wrote the record; a relay of that version may lead
│   ├── TopicRefused                partition count, cleanup policy, retention, min.insync.replicas
│   ├── TransactionsRefused         broker maximum, forbidden transactions
│   ├── MessageTooLarge
│   ├── ValueNotPrintable           a row that was read well cannot be written down
│   ├── ClaimStoreRefused           what holds the values of claims said no
│   └── DeliveryRefused             any other broken batch that would break again
├── NamesUnknown                    a table map without names does not fit what is known; the table is described anew
├── RolledBackRows                  rows in the binlog that the source rolled back; it is read again without them
├── BatchAborted                    the Kafka transaction was aborted; a new producer reads the position again
│   ├── SwitchingSource             the other server is read from now on
│   ├── GoesToSpool                 what was read waits too long for Kafka; it is put on disk from now on
│   └── SpoolUnusable               the spool's disk does not take or give what it should; it is done without
├── Fenced                          a newer producer of this instance exists; join the election again
├── LeadershipLost
├── HandedOver                      another relay should run the instance; this one stands by
├── PlacementRefused                an instance cannot run where an operator wants it
├── AskedToStop                     somebody did not answer before the relay had to end
├── MoveRefused                     what an operator asked of a position cannot be done as asked
├── SourceNotNamed                  a source of a group must be named, and by a name that it has
├── BackupRefused                   a backup is not whole, of a newer format, or would overwrite what is there
├── AuditUnreadable                 an entry of the audit trail is none, or an open transaction hides it
├── DeadLetterUnknown               no dead letter has this id
├── DeadLettersUnreadable           an open transaction hides the end of the dead letters
├── DeadLetterDamaged               a part of a dead letter is missing, or not what was written
├── ReplayRefused                   the dead letter cannot be sent, or was sent before
├── VersionConflict                 somebody else changed the document first
└── NodeMissing                     the ZooKeeper node is not there
"""

from collections.abc import Collection
from typing import ClassVar


class RelayError(Exception):
    """Root of the tree; `code` names the state, `remedy` tells the operator what to do."""

    code: ClassVar[str] = "RELAY_ERROR"
    remedy: ClassVar[str] = "Read the log of the relay around this moment."

    def __init__(self, reason: str, *, remedy: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.way_out = remedy or self.remedy

    def __str__(self) -> str:
        return f"{self.code}: {self.reason} {self.way_out}"


class ConfigurationError(RelayError):
    """The configuration contradicts itself or what was found outside."""

    code = "CONFIGURATION"
    remedy = "Correct the configuration file and start again."


class MappingRefused(ConfigurationError):
    """A mapping document is broken or contradicts another; `pointer` is the JSON pointer of the place."""

    code = "MAPPING_REFUSED"
    remedy = "Correct the document at the place named and save it again; the set in force stays in force."

    def __init__(self, reason: str, *, data_id: str, pointer: str, remedy: str | None = None) -> None:
        super().__init__(reason, remedy=remedy)
        self.data_id = data_id
        self.pointer = pointer


class PartitionRuleRefused(ConfigurationError):
    """A partitionHash rule cannot be read."""

    code = "PARTITION_RULE_REFUSED"
    remedy = "Correct partition_hash of the instance."


class ConditionRefused(ConfigurationError):
    """The condition of a rule cannot be read."""

    code = "CONDITION_REFUSED"
    remedy = "Correct `where` of the rule at the character named."


class StoreRefused(ConfigurationError):
    """ZooKeeper understood the request and said no."""

    code = "ZOOKEEPER_REFUSED"
    remedy = "Check access rights, quota and what else lives below zookeeper.root."


class Unreachable(RelayError):
    """Somebody does not answer; the instance waits with backoff and tries again."""

    code = "UNREACHABLE"


class SourceUnreachable(Unreachable):
    """The database server cannot be reached or hung up."""

    code = "SOURCE_UNREACHABLE"
    remedy = "Check host, port and network of the source; the relay goes on by itself when the server answers."


class SourceSilent(SourceUnreachable):
    """Neither an event nor a heartbeat came within the read timeout."""

    code = "SOURCE_SILENT"
    remedy = "Check the network to the source; the relay reconnects by itself from the committed position."


class StandbyBehind(Unreachable):
    """The server that shall be read next does not have all that was published yet."""

    code = "STANDBY_BEHIND"
    remedy = (
        "Nothing while its replication catches up. If it never will: bring the other server back, or accept the loss of what is "
        "missing (POST /api/v1/instances/{name}/failover/accept-loss)."
    )


class BrokerUnreachable(Unreachable):
    """Kafka does not answer."""

    code = "BROKER_UNREACHABLE"
    remedy = "Check kafka.bootstrap_servers and the brokers; the relay goes on by itself when they answer."


class LookupUnreachable(Unreachable):
    """The server that answers the lookups of transforms does not, or says no."""

    code = "LOOKUP_UNREACHABLE"
    remedy = "Check the lookup's query and the rights of the source's user; the relay goes on by itself when it is answered."


class ClaimStoreUnreachable(Unreachable):
    """What holds the values of claims does not answer, or broke off."""

    code = "CLAIM_STORE_UNREACHABLE"
    remedy = "Check claims.url and what lies behind it; the relay goes on by itself when it takes values again."


class StoreUnreachable(Unreachable):
    """ZooKeeper does not answer."""

    code = "ZOOKEEPER_UNREACHABLE"
    remedy = "Check zookeeper.hosts and the ensemble; running instances go on, a start waits."


class MappingLost(Unreachable):
    """Rows were published under a mapping, and ZooKeeper holds none: without it they would be left out."""

    code = "MAPPING_LOST"
    remedy = "Save the mapping documents again, from a backup; the relay goes on by itself."


class Stop(RelayError):
    """The instance stands still until an operator acts; nothing is lost meanwhile."""

    code = "STOPPED"


class SourceLoginRefused(Stop):
    """The server refused user or password."""

    code = "SOURCE_LOGIN_REFUSED"
    remedy = "Correct user and password of the source."


class SourceNotPermitted(Stop):
    """The account lacks a privilege."""

    code = "SOURCE_NOT_PERMITTED"
    remedy = "GRANT REPLICATION SLAVE, REPLICATION CLIENT, SELECT ON *.* TO the account of the relay."


class SourceSettingsRefused(Stop):
    """The server is not set up so that its binlog can be read without guessing."""

    code = "SOURCE_SETTINGS_REFUSED"
    remedy = "Set log_bin=ON, binlog_format=ROW, binlog_row_image=FULL and binlog_row_metadata=FULL on the source."


class ServerIdTaken(Stop):
    """Another replica of the source uses this server_id."""

    code = "SERVER_ID_TAKEN"
    remedy = "Give the instance a server_id that no other replica of this source has."


class BinlogPurged(Stop):
    """The source no longer has the binlog at the position."""

    code = "BINLOG_PURGED"
    remedy = (
        "Restore the missing binlog files on the source, or accept the loss: make a new first copy and start from "
        "`oldest` or `end` under a new epoch."
    )


class HistoryChanged(Stop):
    """The server at this address has another history than the position's."""

    code = "HISTORY_CHANGED"
    remedy = "Check which server stands at this address; after RESET or a rebuilt server choose a new start position."


class SourceLostTransactions(Stop):
    """The position lies beyond what the source has: published transactions are missing there."""

    code = "SOURCE_LOST_TRANSACTIONS"
    remedy = (
        "The source lost binlog that was already published (crash without sync_binlog=1?): compare copies, "
        "then choose a new start position."
    )


class SwitchRefused(Stop):
    """Another server cannot take the source's place; the instance goes on when that changes, or when an operator orders otherwise."""

    code = "SWITCH_REFUSED"
    remedy = "Bring the server back that was read before, or do what the reason asks for."


class StandbyPurged(SwitchRefused):
    """The server no longer has the binlog of transactions that were not published yet."""

    code = "STANDBY_PURGED"
    remedy = (
        "Bring the server back that was read before. If it is gone for good: accept the loss of the transactions named "
        "(POST /api/v1/instances/{name}/failover/accept-loss) and make a new first copy."
    )


class StandbyDiverged(SwitchRefused):
    """The server has other transactions in the place of published ones."""

    code = "STANDBY_DIVERGED"
    remedy = (
        "Bring the server back that was read before, rebuild this one from it, or choose a new start position and make a new first copy."
    )


class StandbyLacks(SwitchRefused):
    """The server has applied all that it will get by itself, and published transactions are not among it (known by their digests)."""

    code = "STANDBY_LACKS"
    remedy = (
        "Bring the server back that was read before, or let this one replicate what it lacks and order the switch again "
        "(POST /api/v1/instances/{name}/failover/switch). If it is lost: failover.switch_without_gtid = 'fallback' goes on without it."
    )


class PlaceAmbiguous(SwitchRefused):
    """The digests do not tell one place in the server's binlog from another."""

    code = "PLACE_AMBIGUOUS"
    remedy = (
        "Bring the server back that was read before, do what the reason asks for, or set failover.switch_without_gtid = 'fallback', "
        "which repeats up to fallback_interval_seconds of changes under a new epoch."
    )


class SwitchNeedsGtid(SwitchRefused):
    """Without GTIDs on both sides nothing proves that the server has what was published."""

    code = "SWITCH_NEEDS_GTID"
    remedy = (
        "Bring the server back that was read before, or set failover.switch_without_gtid = 'fallback', which repeats up to "
        "fallback_interval_seconds of changes under a new epoch. 'digest', set before a switch, proves it by what was published."
    )


class CorruptEvent(Stop):
    """An event's bytes contradict its checksum or themselves."""

    code = "CORRUPT_EVENT"
    remedy = "Check the binlog with mysqlbinlog --verify-binlog-checksum at the place named."


class UnknownEvent(Stop):
    """The binlog holds an event type that this relay does not know; it may carry changes."""

    code = "UNKNOWN_EVENT"
    remedy = "Upgrade the relay; the server writes a binlog format newer than it knows."


class UnsupportedEvent(Stop):
    """The event is known but cannot be published correctly."""

    code = "UNSUPPORTED_EVENT"


class PreparedUnknown(Stop):
    """An XA transaction is committed whose rows lie before the place where reading began."""

    code = "PREPARED_UNKNOWN"
    remedy = (
        "Start from a place before its XA PREPARE if the source still has it; else leave the transaction out (`roma position skip`) "
        "and copy the tables that it changed anew."
    )


class SavepointRolledBack(Stop):
    """Rows that a split transaction had already published were rolled back later in the same transaction."""

    code = "SAVEPOINT_ROLLED_BACK"
    remedy = "Raise transaction.split_bytes above the size of this transaction and start again from before it."


class SchemaMismatch(Stop):
    """What the table map says and what is known of the table differ."""

    code = "SCHEMA_MISMATCH"
    remedy = "Start the instance from a place behind the table's last change, or leave the table out by its filter and copy it anew."


class RowImageIncomplete(Stop):
    """A row lacks columns (binlog_row_image MINIMAL or NOBLOB)."""

    code = "ROW_IMAGE_INCOMPLETE"
    remedy = "Set binlog_row_image=FULL for every session of the source, or row_image='partial' for consumers that merge partial rows."


class UnmappedName(Stop):
    """A change belongs to a name without a mapping, and the setting says stop."""

    code = "UNMAPPED_NAME"
    remedy = "Add the name to the mapping documents, or set unmapped_db / unmapped_table to drop."


class RuleRefused(Stop):
    """A rule, a mask or a transform cannot hold for a table that has appeared."""

    code = "RULE_REFUSED"
    remedy = "Correct the rule, mask or transform for this table, then start again."


class TransformFailed(Stop):
    """A transform raised an error on a row, or gave back what the table cannot hold."""

    code = "TRANSFORM_FAILED"
    remedy = "Correct the function and start again, or set oversize to dead_letter to go on past such rows."


class PositionLost(Stop):
    """The instance has published before, but its position record is gone."""

    code = "POSITION_LOST"
    remedy = "Restore the position topic, or choose a start position explicitly; a fresh start is never assumed."


class PositionUnreadable(Stop):
    """The position topic cannot be read to its end, or its record is none."""

    code = "POSITION_UNREADABLE"
    remedy = "Wait for open transactions on the topic to end."


class PositionNewer(PositionUnreadable):
    """A relay of a newer version wrote the position record in the format `found`, and this one knows those up to `known`."""

    code = "POSITION_NEWER"
    remedy = "Upgrade this relay to the version that wrote the record; until then it stands by for relays of that version."

    def __init__(self, found: int, known: int) -> None:
        super().__init__(f"The position record has format {found}, this relay knows formats 1 to {known}.")
        self.found = found


class TopicRefused(Stop):
    """A topic exists with settings that break a promise."""

    code = "TOPIC_REFUSED"
    remedy = "Change the topic as the reason says, or the configuration."


class TransactionsRefused(Stop):
    """The broker does not accept the transaction settings."""

    code = "TRANSACTIONS_REFUSED"
    remedy = "Lower transaction.timeout_ms to the broker's transaction.max.timeout.ms or below, and allow transactions to the principal."


class MessageTooLarge(Stop):
    """One row is larger than the broker or the producer accepts."""

    code = "MESSAGE_TOO_LARGE"
    remedy = (
        "Raise max.message.bytes of the topic and kafka.message_max_bytes together, or set oversize to dead_letter or claim_check, "
        "then start again."
    )


class ValueNotPrintable(Stop):
    """A row was read well, but a value of it cannot be written down."""

    code = "VALUE_NOT_PRINTABLE"
    remedy = "Correct the row's values at the source and start behind it, or set oversize to dead_letter, then start again."


class ClaimStoreRefused(Stop):
    """What holds the values of claims understood and said no."""

    code = "CLAIM_STORE_REFUSED"
    remedy = "Check claims.url, its options and secrets, and the right to write there."


class DeliveryRefused(Stop):
    """A message was refused for a reason that would come again."""

    code = "DELIVERY_REFUSED"
    remedy = "Correct the cause named; nothing of the batch became visible."


class NamesUnknown(RelayError):
    """A table map carries no column names and does not fit what is known of its table; `place` is that of its rows, `source` theirs."""

    code = "NAMES_UNKNOWN"
    remedy = "Nothing: the relay describes the table anew from the source's catalogue, and stops where that cannot tell."

    def __init__(self, reason: str, *, table: tuple[str, str]) -> None:
        super().__init__(reason)
        self.table = table
        self.place = ""
        self.source = ""


class RolledBackRows(RelayError):
    """Rows of the open transaction, already read, were rolled back on the source: those from `from_offset` up to `to_offset` of `file`."""

    code = "ROWS_ROLLED_BACK"
    remedy = "Nothing: the relay aborts and reads the transaction again without those rows."

    def __init__(self, reason: str, *, file: str, from_offset: int, to_offset: int) -> None:
        super().__init__(reason)
        self.file = file
        self.from_offset = from_offset
        self.to_offset = to_offset


class BatchAborted(RelayError):
    """The Kafka transaction was aborted; nothing of it is visible, and the position is read again."""

    code = "BATCH_ABORTED"
    remedy = "Nothing: the relay goes on from the committed position."


class SwitchingSource(BatchAborted):
    """The other server is read from now on."""

    code = "SWITCHING_SOURCE"
    remedy = "Nothing: the relay proves that the other server has what was published, and goes on there."


class GoesToSpool(BatchAborted):
    """What was read from the source has waited too long in memory: reading goes on into the spool, and publishing out of it."""

    code = "GOES_TO_SPOOL"
    remedy = "Nothing: the instance goes on at once; see whether Kafka is slow."


class SpoolUnusable(BatchAborted):
    """The spool on disk cannot be written or read; the instance goes on without it."""

    code = "SPOOL_UNUSABLE"
    remedy = "Give the relay's user a folder of its own with room for spooling.limit_bytes; the relay tries again by itself."


class Fenced(RelayError):
    """Kafka accepts a newer producer of this instance only."""

    code = "FENCED"
    remedy = "Nothing: this relay joins the election again."


class LeadershipLost(RelayError):
    """The election's node of this relay is gone."""

    code = "LEADERSHIP_LOST"
    remedy = "Nothing: this relay joins the election again."


class HandedOver(RelayError):
    """This relay ended its batch and let the instance go, because another one should run it."""

    code = "HANDED_OVER"
    remedy = "Nothing: the relay named goes on from the committed position."


class PlacementRefused(RelayError):
    """The relay or server that an instance should move to cannot run it now; nothing was changed."""

    code = "PLACEMENT_REFUSED"
    remedy = "Choose another one, or do first what the reason asks for."


class AskedToStop(RelayError):
    """The relay was asked to stop, and somebody outside did not answer in time."""

    code = "ASKED_TO_STOP"
    remedy = "Nothing: the next start reads from Kafka what became of it."


class MoveRefused(RelayError):
    """What an operator asked of a position cannot be done as asked; nothing was changed."""

    code = "MOVE_REFUSED"
    remedy = "Ask for what the reason names; nothing was changed."


class SourceNotNamed(RelayError):
    """What was asked concerns one source of a group, and which one was not said, or is not known; or a single one was called by a name.

    `known` are the names of the group's sources, empty where the instance reads a single one.
    """

    code = "SOURCE_NOT_NAMED"
    remedy = "Name one of the sources that the reason lists; nothing was changed."

    def __init__(self, reason: str, known: Collection[str] = (), *, remedy: str | None = None) -> None:
        super().__init__(reason, remedy=remedy)
        self.known = tuple(known)

    def asked_with(self, parameter: str) -> "SourceNotNamed":
        """Return the same for somebody who names a source with this flag or field."""
        remedy = f"Name one of these with {parameter}." if self.known else f"Leave {parameter} out."
        return SourceNotNamed(self.reason, self.known, remedy=remedy)


class BackupRefused(RelayError):
    """A backup cannot be written or put back as asked."""

    code = "BACKUP_REFUSED"
    remedy = "Correct what the reason names."


class AuditUnreadable(RelayError):
    """An entry of the audit trail is none, or committed entries are hidden behind an open transaction."""

    code = "AUDIT_UNREADABLE"
    remedy = "Wait for open transactions on the topic to end, and ask again."


class DeadLetterUnknown(RelayError):
    """No dead letter has this id."""

    code = "DEAD_LETTER_UNKNOWN"
    remedy = "Read the ids with `roma dead-letter list`."


class DeadLettersUnreadable(RelayError):
    """Committed dead letters are hidden behind an open transaction."""

    code = "DEAD_LETTERS_UNREADABLE"
    remedy = "Wait for open transactions on the topic to end, and ask again."


class DeadLetterDamaged(RelayError):
    """A part of a dead letter is missing, or not what was written."""

    code = "DEAD_LETTER_DAMAGED"
    remedy = "Check retention of the dead letters' topic; the row is still at the source and in its binlog, at the position named there."


class ReplayRefused(RelayError):
    """A dead letter cannot be sent: it holds no message, or was sent before."""

    code = "REPLAY_REFUSED"
    remedy = "Nothing was sent. Bring the row from the source, or ask for sending it again."


class VersionConflict(RelayError):
    """Somebody else changed it first."""

    code = "VERSION_CONFLICT"
    remedy = "Read it again, apply the change to what is there now, and save with its version."


class NodeMissing(RelayError):
    """The ZooKeeper node is not there."""

    code = "NODE_MISSING"
    remedy = "Check the name; nothing was changed."
