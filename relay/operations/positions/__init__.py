"""Operators' changes of a position: move it, find it by time, repartition a topic.

Each change has a preview, and is written by a producer that fences the instance's own.
"""
