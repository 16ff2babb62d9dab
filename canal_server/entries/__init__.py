"""Changes of the relay's topics as Canal's entries. Touches no socket, no Kafka and no clock."""

from canal_server.entries.batch import entries_of

__all__ = ["entries_of"]
