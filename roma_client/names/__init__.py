"""Finds the topics of logical names: the admin's answers, and a cache of the last one."""

from roma_client.names.answer import Answer, Table
from roma_client.names.topic_directory import Directory

__all__ = ["Answer", "Directory", "Table"]
