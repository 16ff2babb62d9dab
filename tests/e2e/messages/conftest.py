"""The servers of these tests."""

from tests.servers.fixtures import newer_database as database

__all__ = ["database"]
