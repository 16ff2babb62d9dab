"""Reads the messages of a logical table for an operator, without a consumer group.

It imports no other part of `relay.operations`.
"""
