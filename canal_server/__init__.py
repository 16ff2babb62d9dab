"""A server that speaks Canal's protocol and delivers the changes of the relay's topics.

It serves clients of Canal that cannot change (docs/client/canal-server.md, ADR 0082).
"""
