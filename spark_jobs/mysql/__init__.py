"""Copies in a MySQL or MariaDB server: statements, values, and the connection.

This package also runs on executors.
"""
