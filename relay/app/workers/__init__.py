"""The worker processes of a relay with `placement.processes`.

Each worker is a relay with its own session. The parent starts the workers, watches them, and
answers requests for all of them.
"""

from relay.app.workers.cores import number_of_processes
from relay.app.workers.parent import run_workers

__all__ = ["number_of_processes", "run_workers"]
