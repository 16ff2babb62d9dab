"""The command line: `roma`, one file per group of commands."""

from relay.cli import audit, backup, copies, dead_letters, dedup, instance, mapping, placement, position, preflight, run
from relay.cli.root import app

__all__ = ["app", "audit", "backup", "copies", "dead_letters", "dedup", "instance", "mapping", "placement", "position", "preflight", "run"]
