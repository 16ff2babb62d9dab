"""Sends the message of a dead letter to its topic, after the cause of the failure was removed."""

from contextlib import closing, suppress
from dataclasses import replace
from time import time
from typing import Final, NamedTuple

from relay.audit import AuditEntry, AuditTrail
from relay.dead_letters import (
    DeadLetter,
    DeadLetterTopic,
    LaterChanges,
    ListedDeadLetter,
    Replay,
    check_form,
    forgets_after_ms,
    last_of_key,
    later_changes,
)
from relay.encode import without_number
from relay.errors import Fenced, MessageTooLarge, RelayError, ReplayRefused, TopicRefused
from relay.kafka import TopicAdmin, TopicState, message_bytes, topic_limit
from relay.model.message import OutboundMessage
from relay.operations.who import Who
from relay.pipeline.delivery.new_producer import single_producer
from relay.publish import BatchProducer
from relay.settings import InstanceSettings, RelaySettings

_ANSWER_SECONDS: Final = 60.0


class ReplayPreview(NamedTuple):
    """What a replay would send.

    `message` is the stored message. `later` are the newer changes of its key in its topic; None if
    the message has no key, or if the topic no longer has the partition of the message.
    """

    message: OutboundMessage
    later: LaterChanges | None


def preview_replay(
    settings: RelaySettings, instance: InstanceSettings, wanted: str, *, again: bool = False
) -> ReplayPreview:
    """Return what a replay of the dead letter `wanted` would send; nothing is sent. `again`: accept
    one that was sent before.

    Raises DeadLetterUnknown, DeadLetterDamaged, ReplayRefused, TopicRefused, BrokerUnreachable,
    KafkaNotPermitted.
    """
    found = DeadLetterTopic(settings.kafka, settings.installation, instance.name).letter(wanted)
    check(found, again=again)
    message = found.letter.message
    _state(settings, message)
    return ReplayPreview(message, later_changes(settings.kafka, found.letter))


def replay(
    settings: RelaySettings,
    instance: InstanceSettings,
    wanted: str,
    who: Who,
    *,
    again: bool = False,
) -> OutboundMessage:
    """Send the message of the dead letter `wanted` with its own order key, and return the message.

    The message, the record that it was sent again, and the audit entry are committed together. The
    message no longer belongs to a source transaction. Consumers that have a newer change of its key
    drop it. If the topic is compacted and has a newer change of the key, the replay is refused,
    because the older row would remain there. `again`: a message that was sent before is sent again.
    Of two replays at the same time only one sends. Raises DeadLetterUnknown, DeadLetterDamaged,
    ReplayRefused, MessageTooLarge.
    """
    AuditTrail(settings.kafka, settings.installation).ensure_topic()
    # A separate transactional id: the instance's id belongs to the relay.
    producer = single_producer(f"{settings.installation}.replay", settings.kafka, instance)
    with closing(producer):
        # Fence before reading the marks: Kafka then refuses earlier uncommitted replays.
        producer.open()
        try:
            return _sent(settings, instance, wanted, who, producer, again=again)
        except ReplayRefused:
            with suppress(RelayError):  # the broker ends the transaction by its timeout
                producer.abort()
            raise
        except Fenced as exc:
            raise ReplayRefused(
                f"Another replay for {instance.name} began before dead letter {wanted} was "
                "sent, and fenced this one.",
                remedy="Nothing was sent. Check `roma dead-letter list`, then send the dead "
                "letter again.",
            ) from exc


def _sent(
    settings: RelaySettings,
    instance: InstanceSettings,
    wanted: str,
    who: Who,
    producer: BatchProducer,
    *,
    again: bool,
) -> OutboundMessage:
    letters = DeadLetterTopic(settings.kafka, settings.installation, instance.name)
    found = letters.letter(wanted)
    check(found, again=again)
    letter = replace(found.letter, message=_later(found.letter))
    message, state = letter.message, _state(settings, letter.message)
    check_form(letter, instance, state)
    _check_size(settings, message, state)
    last = last_of_key(settings.kafka, letter, state)
    if last is not None:
        last.check(forgets_after_ms(state, tombstones=instance.message.tombstones))
    entry = _entry(instance.name, wanted, message.topic, who)
    producer.send(message)
    if last is not None and instance.transaction.delivery == "exactly_once":
        last.check_sent()
    producer.send(AuditTrail(settings.kafka, settings.installation).message(entry))
    by = Replay(who.name, int(time() * 1000), who.comment)
    producer.commit(letters.replay_mark(found.letter, by)).result(_ANSWER_SECONDS)
    return message


def _entry(instance: str, wanted: str, topic: str, who: Who) -> AuditEntry:
    after = {"id": wanted, "topic": topic}
    return AuditEntry(who.name, "dead-letter.replay", instance, {}, after, who.comment)


def check(found: ListedDeadLetter, *, again: bool) -> None:
    """Raise ReplayRefused if a dead letter has no message, or if its message was sent before and
    `again` is False.
    """
    letter = found.letter
    if not letter.is_message:
        raise ReplayRefused(
            f"Dead letter {letter.id} contains a row and no message, because the row could not "
            f"be encoded: {letter.reason}"
        )
    if found.replay is not None and not again:
        raise ReplayRefused(f"Dead letter {letter.id} was already sent by {found.replay.actor}.")


def _later(letter: DeadLetter) -> OutboundMessage:
    """Return the message of a letter without the headers of its source transaction."""
    message = letter.later_message
    if message.value is None:
        return message
    return replace(message, value=without_number(message.value))


def _state(settings: RelaySettings, message: OutboundMessage) -> TopicState:
    """Return the state of the message's topic. Raises TopicRefused if the topic does not exist."""
    state = TopicAdmin(settings.kafka).state(message.topic)
    if state is None:
        raise TopicRefused(
            f"Kafka has no topic {message.topic}.",
            remedy="Create the topic again with its former settings, then send the dead letter "
            "again.",
        )
    return state


def _check_size(settings: RelaySettings, message: OutboundMessage, state: TopicState) -> None:
    size, limit = (
        message_bytes(message),
        topic_limit(state.settings, settings.kafka.message_max_bytes),
    )
    if size > limit:
        raise MessageTooLarge(
            f"The message has {size} bytes, and {message.topic} accepts at most {limit}."
        )
