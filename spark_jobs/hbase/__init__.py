"""Copies in HBase: row keys, cells, the comparison of order keys (guards), and the connection.

This package runs on executors, which need only the wheel.
"""
