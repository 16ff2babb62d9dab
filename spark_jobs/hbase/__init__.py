"""Copies in HBase: row keys, cells, guards, and the connection.

This package runs on executors, which need only the wheel.
"""
