"""The command line: `roma`, one file per group of commands."""

from relay.cli.accounts import tokens, users
from relay.cli.commands import (
    audit,
    backup,
    binlog,
    copies,
    dead_letters,
    dedup,
    instance,
    mapping,
    mapping_sets,
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
    "mapping",
    "mapping_sets",
    "placement",
    "position",
    "preflight",
    "run",
    "tokens",
    "users",
    "zookeeper",
]
