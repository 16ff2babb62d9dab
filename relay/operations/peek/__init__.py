"""Reads the messages of a logical table for an operator, without a consumer group.

It may import `relay.kafka`, `relay.state`, `relay.route` and the settings, as `relay.operations`
may.
"""
