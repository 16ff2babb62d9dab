"""Everything that the relay will need, looked at before it starts: the same sentences, nothing
written.
"""

from relay.preflight.finding import Finding, Verdict, exit_code
from relay.preflight.run import preflight
from relay.preflight.table import preflight_table

__all__ = ["Finding", "Verdict", "exit_code", "preflight", "preflight_table"]
