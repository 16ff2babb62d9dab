"""The command line: `roma`, one file per group of commands."""

from relay.cli import erase, mappings
from relay.cli.accounts import tokens, users
from relay.cli.commands import (
    audit,
    backup,
    binlog,
    copies,
    dead_letters,
    dedup,
    instance,
    peek,
    placement,
    position,
    preflight,
    run,
    snapshot,
    zookeeper,
)
from relay.cli.json_output import add_json
from relay.cli.root import app

add_json(app)

__all__ = [
    "app",
    "audit",
    "backup",
    "binlog",
    "copies",
    "dead_letters",
    "dedup",
    "erase",
    "instance",
    "mappings",
    "peek",
    "placement",
    "position",
    "preflight",
    "run",
    "snapshot",
    "tokens",
    "users",
    "zookeeper",
]
