"""Helpers around Spark's own interface: caching, Java objects, progress, error translation.

May import `config` and the errors: no code here depends on a table or a topic.
"""
