"""Copies in a MySQL or MariaDB server: statements, values, and the way there.

What stands here runs on executors too.
"""
