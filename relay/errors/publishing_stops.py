"""Errors of positions, of Kafka, of schema registries and of the store of claims that stop the
instance.
"""

from relay.errors.base import Stop


class PositionLost(Stop):
    """The instance has published before, but its position record is gone."""

    code = "POSITION_LOST"
    remedy = (
        "Restore the position topic. If it is lost: `roma position set NAME --file F --offset N "
        "--as-new`. The relay never chooses a new position by itself."
    )


class PositionUnreadable(Stop):
    """The position topic cannot be read to its end, or its last record cannot be parsed."""

    code = "POSITION_UNREADABLE"
    remedy = (
        "Wait for open transactions on the topic to end. If the error stays, find another program "
        "that writes to the position topic, and stop it."
    )


class PositionNewer(PositionUnreadable):
    """A newer version wrote the position record in format `found`.

    This relay reads formats up to `known`.
    """

    code = "POSITION_NEWER"
    remedy = (
        "Upgrade this relay to the version that wrote the record; until then it is a standby for "
        "relays of that version."
    )

    def __init__(self, found: int, known: int) -> None:
        super().__init__(
            f"The position record has format {found}, this relay reads formats 1 to {known}."
        )
        self.found = found


class PartitionsChanged(Stop):
    """The partition settings of a topic, or the type of a key column, differ from those of the
    published rows: keys would move to other partitions.
    """

    code = "PARTITIONS_CHANGED"
    remedy = (
        "Set the instance's partition settings back and start again. To move the keys permanently, "
        "run `roma position repartition INSTANCE --topic TOPIC`, first with --preview; add "
        "--table for a key column of another type."
    )


class FormatChanged(Stop):
    """The settings give a topic another format than that of the messages which this instance wrote
    to it.
    """

    code = "FORMAT_CHANGED"
    remedy = (
        "Set message.format or the rule of topic.rules back and start again. To change the "
        "format, give the tables a topic of another name: docs/formats/index.md has the steps "
        "that bring every row into it."
    )


class TopicRefused(Stop):
    """A topic has settings that break a delivery guarantee."""

    code = "TOPIC_REFUSED"
    remedy = "Correct the setting of the topic that the reason names, or the configuration."


class TransactionsRefused(Stop):
    """The broker does not accept the transaction settings."""

    code = "TRANSACTIONS_REFUSED"
    remedy = "Lower transaction.timeout_ms to the broker's transaction.max.timeout.ms or below."


class KafkaNotPermitted(Stop):
    """The relay's principal lacks an access right (ACL) in Kafka."""

    code = "KAFKA_NOT_PERMITTED"
    remedy = "Give the relay's principal the right that the reason names, then start again."


class MessageTooLarge(Stop):
    """One row is larger than the broker or the producer accepts."""

    code = "MESSAGE_TOO_LARGE"
    remedy = (
        "Raise max.message.bytes of the topic and kafka.message_max_bytes together, or set "
        "oversize to dead_letter or claim_check, "
        "then start again."
    )


class ClaimStoreRefused(Stop):
    """The store of claimed values answered and refused the request."""

    code = "CLAIM_STORE_REFUSED"
    remedy = (
        "Check claims.url, its options and secrets, and the right to write to the store, then "
        "start again."
    )


class DeliveryRefused(Stop):
    """Kafka refused a message for a reason that a retry does not remove."""

    code = "DELIVERY_REFUSED"
    remedy = "Correct the cause in the reason, then start again; no row of the batch is visible."


class SchemaRefused(Stop):
    """The schema registry refused the schema of a table or statement."""

    code = "SCHEMA_REFUSED"
    remedy = (
        "Do one of these and start again: undo the ALTER; in the registry, set the compatibility "
        "of the subject to NONE or to a level that allows the change; or give the table another "
        "topic. With registry.subject = 'topic_name' a topic may have only one table."
    )


class RegistryRefused(Stop):
    """The schema registry answered and refused the request."""

    code = "REGISTRY_REFUSED"
    remedy = (
        "Check registry.url, user and password, and the user's rights in the registry, then "
        "start again."
    )


class NameNotInFormat(Stop):
    """The message format does not allow the name of a table or column."""

    code = "NAME_NOT_IN_FORMAT"
    remedy = (
        "Do one of these and start again: set registry.names = 'escape', which writes such "
        "characters as _u<hex>_; rename the column; or leave it out by a rule (without_fields)."
    )
