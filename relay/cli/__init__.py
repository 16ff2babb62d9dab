"""The command line: `roma`, one file per group of commands."""

from relay.cli import mappings
from relay.cli.accounts import tokens, users
from relay.cli.commands import (
    audit,
    backup,
    binlog,
    copies,
    dead_letters,
    dedup,
    instance,
    placement,
    position,
    preflight,
    run,
    zookeeper,
)
from relay.cli.root import app

__all__ = [
    "app",
    "audit",
    "backup",
    "binlog",
    "copies",
    "dead_letters",
    "dedup",
    "instance",
    "mappings",
    "placement",
    "position",
    "preflight",
    "run",
    "tokens",
    "users",
    "zookeeper",
]
