"""Servers whose programs are in pinned packages of Python, beside the relay's own."""

from deploy.embedded.packaged.postgres import Postgres
from deploy.embedded.packaged.redis import Redis

__all__ = ["Postgres", "Redis"]
