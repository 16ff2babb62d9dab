"""Finds the topics of logical names: requests them from the admin, and stores the last answer in a
cache.
"""

from roma_client.names.answer import Answer, Table
from roma_client.names.topic_directory import Directory

__all__ = ["Answer", "Directory", "Table"]
