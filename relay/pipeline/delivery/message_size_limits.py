"""The message sizes that topics accept, as an instance learned them; kept over its sessions."""

from relay.errors import BatchAborted, MessageTooLarge, RelayError
from relay.settings import KafkaSettings


class MessageSizes:
    """Limits in bytes, by topic.

    `client_batch_bytes` is the largest batch of the present client.
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
        """Record a topic's limit.

        Raises BatchAborted if the client's batches are larger: a new client is then created.
        """
        self.limits[topic] = limit_bytes
        if limit_bytes < self.client_batch_bytes:
            raise BatchAborted(
                f"Topic {topic} accepts batches of at most {limit_bytes} bytes, and the client "
                f"collects up to {self.client_batch_bytes}."
            )

    def after_refusal(self, refusal: MessageTooLarge, oversize: str, commits: int) -> RelayError:
        """Return the error for a refused size.

        The first time, limits are read again. Twice without a commit in between, it is a stop.
        """
        again = commits == self._commits_at_refusal
        self._commits_at_refusal = commits
        if oversize == "stop" or again:
            return refusal
        return BatchAborted(f"{refusal.reason} Size limits are read again.")
