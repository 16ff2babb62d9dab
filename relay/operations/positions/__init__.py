"""Operators' changes of an instance's position: move it, skip a transaction, repartition a topic;
and the search by time.

Each change has a preview. It is written by a producer that fences the instance's own producer.
"""
