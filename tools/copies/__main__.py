"""`python -m tools.copies under-load | flipped-byte`."""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from deploy.embedded import spark_environment
from tools.copies.flipped_byte import flipped_byte
from tools.copies.under_load import under_load


def main() -> int:
    """Run one of the checks in a separate folder; return 0 if its result is as expected."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.copies", description="First copy and reconciliation, on real servers."
    )
    kinds = parser.add_subparsers(dest="kind", required=True)
    load = kinds.add_parser(
        "under-load",
        help="run bootstrap, killed once, while relay, stream and load run; then reconcile",
    )
    load.add_argument(
        "--rows",
        type=int,
        default=20_000,
        help="rows of each of two shards before the relay starts",
    )
    load.add_argument(
        "--seconds",
        type=float,
        default=20,
        help="duration of the load while the second bootstrap runs",
    )
    flip = kinds.add_parser("flipped-byte", help="flip one byte in a copy, find it and repair it")
    flip.add_argument("--rows", type=int, default=10_000_000)
    flip.add_argument("--server", choices=("mariadb", "mysql"), default="mariadb")
    given = parser.parse_args()
    os.environ.update(spark_environment())
    os.environ.setdefault("SPARK_DRIVER_MEMORY", "3g")
    with tempfile.TemporaryDirectory(prefix="copies-") as folder:
        if given.kind == "under-load":
            return under_load(Path(folder), given.rows, given.seconds)
        return flipped_byte(Path(folder), given.rows, given.server)


if __name__ == "__main__":
    sys.exit(main())
