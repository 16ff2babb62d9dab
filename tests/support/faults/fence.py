"""A foreign producer with the transactional id of an instance, which fences the instance."""

from confluent_kafka import KafkaException, Producer

from relay.deadline import Deadline


class Stranger:
    """Fences every older producer of the id at once. It aborts what it sends to `topic`."""

    def __init__(self, bootstrap: str, transactional_id: str, topic: str) -> None:
        self._topic = topic
        self._producer = Producer(
            {"bootstrap.servers": bootstrap, "transactional.id": transactional_id, "log_level": 0}
        )
        self._producer.init_transactions(20)

    def holds(self, seconds: float) -> bool:
        """Return whether no other producer fences this one in so many seconds. It begins
        transactions to ask, because only the broker has the answer.
        """
        deadline = Deadline.after(seconds)
        while not deadline.passed:
            self._producer.poll(0.2)
            if not self._answers():
                return False
        return True

    def close(self) -> None:
        self._producer.purge()

    def _answers(self) -> bool:
        try:
            self._producer.begin_transaction()
            self._producer.produce(self._topic, b"of a stranger")
            self._producer.flush(5)
            self._producer.abort_transaction(10)
        except KafkaException:
            return False
        return True
