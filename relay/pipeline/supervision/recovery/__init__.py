"""Decides how an instance recovers after an error, and waits before it continues.

`decision` is pure; the other modules wait, ask ZooKeeper who leads, and read the clock.
"""
