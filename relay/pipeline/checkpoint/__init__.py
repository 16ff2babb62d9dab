"""Builds the contents of one Kafka transaction: its messages, the progress, and the position
record.

Of the pipeline's packages it may import `spooling`, `ingest`, `messages` and `delivery`.
"""
