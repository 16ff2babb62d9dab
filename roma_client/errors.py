"""All errors of the client. Each names the event, its location, and the remedy."""

from typing import ClassVar


class ClientError(Exception):
    """Base class of all errors of this package.

    code    a word for programs
    reason  what happened, with the value and where
    remedy  what to do
    """

    code: ClassVar[str] = "CLIENT_ERROR"
    remedy: str = "Correct the error that the reason describes."

    def __init__(self, reason: str, remedy: str = "") -> None:
        self.reason = reason
        self.remedy = remedy or self.remedy
        super().__init__(f"{self.code}: {reason} Remedy: {self.remedy}")


class UsageError(ClientError):
    """The arguments contradict each other, or one is missing."""

    code = "USAGE"
    remedy = "Correct the arguments of the subscription."


class UnknownTable(ClientError):
    """The active mapping has no such logical table."""

    code = "UNKNOWN_TABLE"
    remedy = "Use a logical name of the mapping, not the name of a shard or a topic."


class UnknownTag(ClientError):
    """No message of the table can have this tag."""

    code = "UNKNOWN_TAG"
    remedy = "Use a tag of the mapping, or add the tag to the mapping first."


class NotPermitted(ClientError):
    """The admin or Kafka refuses this caller."""

    code = "NOT_PERMITTED"
    remedy = "Give a token with the role viewer, and Kafka credentials that may read the topic."


class AdminUnreachable(ClientError):
    """The admin does not answer, and the cache has no earlier answer."""

    code = "ADMIN_UNREACHABLE"
    remedy = (
        "Check that the admin runs at this address. A client that has read the same tables before "
        "uses the answer in its cache."
    )


class AdminRefused(ClientError):
    """The admin answers with an error, or the answer is not from an admin."""

    code = "ADMIN_REFUSED"
    remedy = "Correct the error that the admin reports in the reason."


class IncompatibleVersion(ClientError):
    """The messages, or the admin's answer, have a form that this client cannot read."""

    code = "INCOMPATIBLE_VERSION"
    remedy = "Install a client of the relay's version."


class CorruptMessage(ClientError):
    """A record of the topic is not a message of the relay."""

    code = "CORRUPT_MESSAGE"
    remedy = (
        'Find out who else writes into the topic. `corrupt="dead_letter"` copies such records to '
        "the dead letter topic and continues."
    )


class ClaimUnreadable(ClientError):
    """The value of a message is stored outside Kafka and cannot be read there."""

    code = "CLAIM_UNREADABLE"
    remedy = (
        "Give `claim_reader`, a function that returns the bytes at a URL. If it is given, "
        "repair it."
    )


class ClaimGone(ClaimUnreadable):
    """The value of a message is missing at the URL of its claim, or another value is there."""

    remedy = (
        "Restore the object, or let an operator send the row again. "
        '`corrupt="dead_letter"` copies such records to the dead letter topic and continues.'
    )


class TopicMissing(ClientError):
    """Kafka has no such topic."""

    code = "TOPIC_MISSING"
    remedy = "Start the relay: it creates the topics of its mapping."


class RowsExpired(ClientError):
    """Kafka has deleted records that this consumer group has not read."""

    code = "ROWS_EXPIRED"
    remedy = "Copy the table again (a first copy), then reset the offsets of the group."


class BrokerUnreachable(ClientError):
    """No Kafka broker answers."""

    code = "BROKER_UNREACHABLE"
    remedy = 'Check `bootstrap.servers`; `kafka={"bootstrap.servers": …}` replaces the admin\'s.'


class KafkaRefused(ClientError):
    """Kafka answers with an error that the client cannot handle."""

    code = "KAFKA_REFUSED"
    remedy = "Correct the error that Kafka reports in the reason."


class TableMoved(ClientError):
    """A mapping edit moved the table to another topic while the client was reading."""

    code = "TABLE_MOVED"


class TransactionIncomplete(ClientError):
    """Rows of a source transaction are missing, and cannot arrive any more."""

    code = "TRANSACTION_INCOMPLETE"
    remedy = (
        "Find out why rows of the topics are missing: retention, an operator, or another name "
        'of the topic of transactions. `partial="yield"` delivers the remaining rows, marked '
        "as incomplete."
    )


class TransactionTooLarge(ClientError):
    """A source transaction does not fit into the memory that the subscription may use."""

    code = "TRANSACTION_TOO_LARGE"
    remedy = (
        "None of its changes was delivered. Raise `transaction_bytes` above the size of the "
        "transaction, which the client keeps in memory, or read these tables row by row, with "
        "Subscription."
    )


class InboxAhead(ClientError):
    """The inbox's position is after a change that was never applied."""

    code = "INBOX_AHEAD"
    remedy = (
        "If the topic was deleted and created again, delete the inbox's rows of the topic, or read "
        'with another `subscription`; `by="row"` compares order keys, not offsets.'
    )


class NotActive(ClientError):
    """The acknowledgement is too late: the group has given the partitions to another client."""

    code = "NOT_ACTIVE"
    remedy = "Get a batch again. Changes that were not acknowledged are delivered again."


class DeadLetterFailed(ClientError):
    """A change could not be stored in the dead letter topic. It is not acknowledged."""

    code = "DEAD_LETTER_FAILED"
    remedy = "Create the dead letter topic, and permit the client to write to it."


class BatchUnknown(ClientError):
    """The batch id is not the one that must be acknowledged next."""

    code = "BATCH_UNKNOWN"
    remedy = "Acknowledge batches in the order in which you got them."


class DeleteWithoutColumns(ClientError):
    """A delete of which only the key is known was read by a client that needs columns."""

    code = "DELETE_WITHOUT_COLUMNS"
    remedy = (
        "Delete the row in the client's copy, or copy the table again. Then move the offset of the "
        "group in this partition after the record (kafka-consumer-groups.sh --reset-offsets), or "
        'set `deletes_without_columns = "skip"` in [canal_server].'
    )


class NotConnected(ClientError):
    """The connector is not connected, or has no subscription."""

    code = "NOT_CONNECTED"
    remedy = "Call connect(), then subscribe()."
