"""Reads the messages of a logical table, without a consumer group.

Allowed imports are those of `relay.operations`: `relay.kafka`, `relay.state`, `relay.route` and
settings.
"""
