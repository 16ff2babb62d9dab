"""Servers for tests and the demo, generated reference pages, and files for installations.

May import `relay`, `api` and `spark_jobs`; none of them imports this package.
"""
