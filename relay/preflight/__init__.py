"""Checks everything that the relay needs, before it starts: with the same sentences, and without
writes.
"""

from relay.preflight.finding import Finding, Verdict, exit_code
from relay.preflight.run import preflight
from relay.preflight.table import preflight_table

__all__ = ["Finding", "Verdict", "exit_code", "preflight", "preflight_table"]
