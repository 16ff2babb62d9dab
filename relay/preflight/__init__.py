"""Checks before a start everything that the relay needs, without writing anything.

The findings have the same sentences as the errors of the relay.
"""

from relay.preflight.finding import Finding, Verdict, exit_code
from relay.preflight.run import preflight
from relay.preflight.table import preflight_table

__all__ = ["Finding", "Verdict", "exit_code", "preflight", "preflight_table"]
