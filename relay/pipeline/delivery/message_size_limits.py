"""What an instance learned about the sizes that its topics take, kept over its sessions."""

from relay.errors import BatchAborted, MessageTooLarge, RelayError
from relay.settings import KafkaSettings


class MessageSizes:
    """Limits in bytes, by topic.

    `client_batch_bytes` is what the present client puts into one batch at most.
    """

    def __init__(self, kafka: KafkaSettings) -> None:
        self.limits: dict[str, int] = {}
        self.client_batch_bytes = kafka.batch_bytes
        self._kafka = kafka
        self._commits_at_refusal = -1

    def new_client(self) -> KafkaSettings:
        """Return the settings of a client whose batches every known topic takes.

        It does not cut one that a broker refuses.
        """
        self.client_batch_bytes = min([self._kafka.batch_bytes, *self.limits.values()])
        return self._kafka.model_copy(update={"batch_bytes": self.client_batch_bytes})

    def note(self, topic: str, limit_bytes: int) -> None:
        """Take note of a topic's limit.

        Raises BatchAborted where the client's batches are larger: a new one will be made.
        """
        self.limits[topic] = limit_bytes
        if limit_bytes < self.client_batch_bytes:
            raise BatchAborted(
                f"Topic {topic} takes {limit_bytes} bytes at once, the client collects up to "
                f"{self.client_batch_bytes}."
            )

    def after_refusal(self, refusal: MessageTooLarge, oversize: str, commits: int) -> RelayError:
        """Say what a refused size means: limits have changed and are asked for again.

        Twice without a commit in between, a stop.
        """
        again = commits == self._commits_at_refusal
        self._commits_at_refusal = commits
        if oversize == "stop" or again:
            return refusal
        return BatchAborted(f"{refusal.reason} Sizes are asked for again.")
