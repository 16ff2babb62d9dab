"""The command line: `roma`, one file per group of commands."""

from relay.cli import audit, backup, mapping, position, preflight, run
from relay.cli.root import app

__all__ = ["app", "audit", "backup", "mapping", "position", "preflight", "run"]
