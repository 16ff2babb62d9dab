"""Sending a dead letter's message to its topic, once it takes it."""

from collections.abc import Sequence
from contextlib import closing
from time import time
from typing import Final

from relay.audit import AuditEntry, AuditTrail
from relay.dead_letters import DeadLetterTopic, ListedDeadLetter, Replay
from relay.errors import MessageTooLarge, ReplayRefused, TopicRefused
from relay.kafka import TopicAdmin, message_bytes, topic_limit
from relay.model.message import OutboundMessage
from relay.operations.who import Who
from relay.pipeline.delivery.new_producer import new_producer
from relay.settings import InstanceSettings, RelaySettings

_ANSWER_SECONDS: Final = 60.0


def replay(
    settings: RelaySettings,
    instance: InstanceSettings,
    wanted: str,
    who: Who,
    *,
    again: bool = False,
) -> OutboundMessage:
    """Send the message of a letter as it was to be sent, with its own order pair, and return it.

    Message, mark and audit entry become visible together. A consumer that knows a newer change of
    the key drops it, as it should. Raises DeadLetterUnknown, DeadLetterDamaged, ReplayRefused,
    MessageTooLarge.
    """
    letters = DeadLetterTopic(settings.kafka, settings.installation, instance.name)
    trail = AuditTrail(settings.kafka, settings.installation)
    found = letters.letter(wanted)
    check(found, again=again)
    _check_size(settings, found.letter.message)
    trail.ensure_topic()
    entry = AuditEntry(
        who.name,
        "dead-letter.replay",
        instance.name,
        {},
        {"id": wanted, "topic": found.letter.message.topic},
        who.comment,
    )
    by = Replay(who.name, int(time() * 1000), who.comment)
    _send(
        settings,
        instance,
        [found.letter.message, trail.message(entry)],
        letters.replay_mark(found.letter, by),
    )
    return found.letter.message


def check(found: ListedDeadLetter, *, again: bool) -> None:
    """Raise ReplayRefused for a letter that holds no message, or whose message was sent already
    unless it is to be sent `again`.
    """
    letter = found.letter
    if not letter.is_message:
        raise ReplayRefused(
            f"Dead letter {letter.id} holds the row as it was read; no message could be made of "
            f"it: {letter.reason}"
        )
    if found.replay is not None and not again:
        raise ReplayRefused(f"Dead letter {letter.id} was sent before, by {found.replay.actor}.")


def _check_size(settings: RelaySettings, message: OutboundMessage) -> None:
    state = TopicAdmin(settings.kafka).state(message.topic)
    if state is None:
        raise TopicRefused(
            f"Topic {message.topic} is not there.",
            remedy="Make the topic anew, as it was, and send again.",
        )
    size, limit = (
        message_bytes(message),
        topic_limit(state.settings, settings.kafka.message_max_bytes),
    )
    if size > limit:
        raise MessageTooLarge(f"The message takes {size} bytes, and {message.topic} takes {limit}.")


def _send(
    settings: RelaySettings,
    instance: InstanceSettings,
    messages: Sequence[OutboundMessage],
    mark: OutboundMessage,
) -> None:
    """By a producer with a transactional id of its own: the instance's is the relay's."""
    with closing(
        new_producer(f"{settings.installation}.replay", settings.kafka, instance)
    ) as producer:
        producer.open()
        for message in messages:
            producer.send(message)
        producer.commit(mark).result(_ANSWER_SECONDS)
