"""The fault harness: real servers and faults, and counts of the changes that a read_committed
consumer lost, got twice or got out of order.
"""
