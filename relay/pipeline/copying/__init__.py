"""Copies tables of the source into their topics beside the stream (ADR 60, 61).

A chunk of a table is read between two watermarks and published at a boundary between two source
transactions, in the Kafka transaction that also holds its progress.
"""
