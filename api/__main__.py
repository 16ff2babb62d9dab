"""Runs the admin: `python -m api --config FILE`."""

import sys
from collections.abc import Sequence

from api.server import serve
from relay.service import run_service


def main(argv: Sequence[str] | None = None) -> int:
    """Run the admin until SIGTERM or SIGINT.

    Returns the exit code of the process: 0 after a signal, 2 for an unusable configuration. `argv`
    is the command line without the program's name; None means `sys.argv`.
    """
    return run_service("roma api", "The admin: mappings, instances, relays.", serve, argv)


if __name__ == "__main__":
    sys.exit(main())
