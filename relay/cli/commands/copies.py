"""`roma bootstrap` and `roma reconcile`: fill copies from existing tables, and compare copies with
their sources.
"""

from relay.cli.root import app
from relay.cli.spark_job import AS_GIVEN, JobOptions, become


@app.command(context_settings=AS_GIVEN)
def bootstrap(options: JobOptions = None) -> None:
    """Fill the copies from existing tables while the stream runs."""
    become("bootstrap", options)


@app.command(context_settings=AS_GIVEN)
def reconcile(options: JobOptions = None) -> None:
    """Prove that the copies equal the sources, or list the differences.

    Exit code 0: equal, 1: different, 2: unknown.
    """
    become("reconcile", options)
