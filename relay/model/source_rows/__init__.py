"""Rows of a source's tables as SQL sees them: kinds of columns, texts of values, ranges of keys.

Pure; shared by the relay's copies of tables and the Spark jobs.
"""
