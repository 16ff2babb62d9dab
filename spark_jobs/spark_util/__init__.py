"""Helpers around Spark's own interface: caching, Java objects, progress, error translation.

May import `config` and the errors: nothing here depends on a table or a topic.
"""
