"""`python -m deploy.demo [--once]`."""

import argparse
import sys

import httpx

from deploy.demo.run import run
from deploy.demo.shutdown import Interrupted, Shutdown
from deploy.embedded import EmbeddedError
from deploy.embedded.fetching.progress import say


def main() -> int:
    """Run the command line: 0 when source and copy are equal, 1 otherwise or when something could
    not be started.
    """
    parser = argparse.ArgumentParser(
        prog="python -m deploy.demo", description="The whole relay on real servers, on loopback."
    )
    parser.add_argument(
        "--once",
        action="store_true",
        help="end after the table; by default the demo runs on, so that you can explore it",
    )
    arguments = parser.parse_args()
    shutdown = Shutdown()
    shutdown.take_signals()
    try:
        return run(shutdown, once=arguments.once)
    except Interrupted:
        say("stopped")
        return 0
    except (EmbeddedError, httpx.HTTPError) as failure:
        say(f"the demo failed: {failure}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
