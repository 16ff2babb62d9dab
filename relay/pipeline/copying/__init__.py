"""Copies tables of the source into their topics while the stream continues (snapshots; ADR 60, 61).

A chunk of a table is read between two watermarks. It is published between two source transactions,
in the Kafka transaction that also holds its progress.
"""
