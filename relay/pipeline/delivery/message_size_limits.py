"""The message sizes that topics accept, as far as an instance has read them. An instance keeps them
from one run to the next.
"""

from relay.errors import BatchAborted, MessageTooLarge, RelayError
from relay.settings import KafkaSettings


class MessageSizes:
    """The message sizes that an instance has read or set.

    limits              topic → largest message that it accepts, in bytes
    client_batch_bytes  the largest batch that the present Kafka client sends, in bytes
    """

    def __init__(self, kafka: KafkaSettings) -> None:
        self.limits: dict[str, int] = {}
        self.client_batch_bytes = kafka.batch_bytes
        self._kafka = kafka
        self._commits_at_refusal = -1

    def new_client(self) -> KafkaSettings:
        """Return the settings of a new Kafka client whose batches are accepted by every known
        topic.

        The batches must fit from the start, because the client cannot divide a batch that a broker
        refuses.
        """
        self.client_batch_bytes = min([self._kafka.batch_bytes, *self.limits.values()])
        return self._kafka.model_copy(update={"batch_bytes": self.client_batch_bytes})

    def note(self, topic: str, limit_bytes: int) -> None:
        """Record `limit_bytes`, the largest message that a topic accepts.

        Raises BatchAborted if the client's batches are larger: the next run creates a new client.
        """
        self.limits[topic] = limit_bytes
        if limit_bytes < self.client_batch_bytes:
            raise BatchAborted(
                f"Topic {topic} accepts batches of at most {limit_bytes} bytes, and the client "
                f"collects up to {self.client_batch_bytes}."
            )

    def after_refusal(self, refusal: MessageTooLarge, oversize: str, commits: int) -> RelayError:
        """Return the error to raise after a broker refused a message.

        refusal   the broker's refusal
        oversize  the setting
        commits   number of commits so far

        Usually the result is BatchAborted, so that the limits are read again. The result is
        `refusal`, which stops the instance, if `oversize` is "stop", or if no batch was committed
        since the previous refusal.
        """
        again = commits == self._commits_at_refusal
        self._commits_at_refusal = commits
        if oversize == "stop" or again:
            return refusal
        return BatchAborted(f"{refusal.reason} Size limits are read again.")
