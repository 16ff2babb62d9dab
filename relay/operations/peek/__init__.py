"""Reads the messages of a logical table for an operator, without a consumer group.

It may import what `relay.operations` may: `relay.kafka`, `relay.state`, `relay.route` and settings.
"""
