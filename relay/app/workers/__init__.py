"""The worker processes of a relay with `placement.processes`: each is a relay with its own session,
and the parent starts them, watches them and answers for all.
"""

from relay.app.workers.cores import number_of_processes
from relay.app.workers.parent import run_workers

__all__ = ["number_of_processes", "run_workers"]
