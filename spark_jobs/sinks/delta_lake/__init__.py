"""Copies as Delta tables: upserts, truncates, schema changes and maintenance.

May import `transforms`, `spark_util` and `config`, and the sinks' common interface.
"""
