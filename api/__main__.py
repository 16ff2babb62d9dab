"""`python -m api --config FILE`."""

import sys
from collections.abc import Sequence

from api.server import serve
from relay.service import run_service


def main(argv: Sequence[str] | None = None) -> int:
    """Serve the admin. Return the exit code of `run_service`."""
    return run_service("roma api", "The admin: mappings, instances, relays.", serve, argv)


if __name__ == "__main__":
    sys.exit(main())
