"""A relay with two transactional ids, of which one sends a batch while the other one is committed
(`transaction.producers = 2`).

Rows, record and commit are requests that arrive in any order that one connection allows; a relay
may sleep for any time, and another one may open its producers meanwhile.
"""
