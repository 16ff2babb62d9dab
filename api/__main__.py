"""`python -m api --config FILE`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from api.server import serve
from relay.errors import ConfigurationError
from relay.settings import load_settings
from relay.telemetry import set_up_logging


def main(argv: Sequence[str] | None = None) -> int:
    """Serve the admin.

    The result is the exit code: 0 after a signal, 2 for a configuration that cannot be used.
    """
    parser = argparse.ArgumentParser(
        prog="roma api", description="The admin: mappings, instances, relays."
    )
    parser.add_argument(
        "--config",
        type=Path,
        required=True,
        metavar="FILE",
        help="the relay's configuration file (TOML)",
    )
    arguments = parser.parse_args(argv)
    try:
        settings = load_settings(arguments.config)
        set_up_logging(settings.log)
        serve(settings)
    except ConfigurationError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
