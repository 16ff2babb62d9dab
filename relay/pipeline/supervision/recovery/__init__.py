"""Recovery after an error, and the waits before an instance continues.

`decision` is pure; the other modules wait, ask ZooKeeper who leads, and read the clock.
"""
