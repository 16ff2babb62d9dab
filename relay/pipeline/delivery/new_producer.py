"""Which producer an instance has."""

from relay.publish import BatchProducer, IdempotentProducer, TransactionalProducer
from relay.settings import InstanceSettings, KafkaSettings


def new_producer(prefix: str, kafka: KafkaSettings, instance: InstanceSettings) -> BatchProducer:
    """Make a producer.

    Its transactional id is a pure function of the prefix (the installation) and the instance.
    """
    name = f"{prefix}.{instance.name}"
    if instance.transaction.delivery == "at_least_once":
        return IdempotentProducer(kafka, instance.transaction, name)
    return TransactionalProducer(kafka, instance.transaction, name)
