"""Copies in HBase: row keys, cells, guards, and the way there.

What stands here runs on executors, which need nothing but the wheel.
"""
