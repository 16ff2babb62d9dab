"""Copies as Delta tables: upserts, changes of columns, and maintenance.

May import `transforms`, `spark_util` and `config`, and the sinks' common interface.
"""
