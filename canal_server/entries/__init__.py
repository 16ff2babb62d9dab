"""Converts changes into Canal's entries, without sockets, Kafka and clocks."""

from canal_server.entries.batch import entries_of

__all__ = ["entries_of"]
