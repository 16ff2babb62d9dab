"""Binlog coordinates, GTID sets, and the position of an instance in its source. May import
`relay.model` only.
"""
