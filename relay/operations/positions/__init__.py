"""Operators' changes of an instance's position: move it, skip a transaction, repartition a topic;
and the search by time.

Each change can be previewed. The producer that writes a change fences the leader's producer first.
"""
