"""Measures the relay and its peers on one binlog: `make bench`, `make bench-latency`.

Not part of the tests.
"""
