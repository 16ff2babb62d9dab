"""What an instance does after an error, and how it waits before it goes on.

`decision` is pure; the other modules wait, ask ZooKeeper who leads, and watch the clock.
"""
