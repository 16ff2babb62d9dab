"""Publishes messages to Kafka in batches, each of which becomes visible as a whole together with
the position.
"""

from relay.publish.alternating_producer import AlternatingProducer
from relay.publish.idempotent_producer import IdempotentProducer
from relay.publish.producer import BatchProducer
from relay.publish.transactional_producer import TransactionalProducer

__all__ = ["AlternatingProducer", "BatchProducer", "IdempotentProducer", "TransactionalProducer"]
