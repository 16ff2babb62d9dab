"""`python -m tests.ddl --statements 2000 --seed 1`: random DDL on every server, one after the
other.
"""

import argparse
import sys
from contextlib import suppress
from time import monotonic

from tests.ddl.comparing import Comparison, compare
from tests.servers.running import running
from tests.support.sources.release_runs import KINDS

_USUAL = ("mariadb-11.4", "mariadb-10.11", "mysql-9.7")
_EVERY_SECONDS = 10.0


class _Progress:
    """Prints a line now and then."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._next = monotonic() + _EVERY_SECONDS

    def __call__(self, came: Comparison) -> None:
        if monotonic() >= self._next:
            self._next = monotonic() + _EVERY_SECONDS
            print(_line(self._name, came), flush=True)


def _line(name: str, came: Comparison) -> str:
    after = f"{came.unknown} unknown afterwards, {came.keys_unknown} with unknown keys"
    return (
        f"{name}: {came.carried_out} carried out, {came.refused} refused, {after}, "
        f"{len(came.wrong)} wrong"
    )


def main() -> int:
    """Run the comparison; 1 when something was followed wrongly."""
    parser = argparse.ArgumentParser(prog="tests.ddl", description=__doc__)
    parser.add_argument(
        "--statements", type=int, default=2000, help="statements that each server carries out"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--server",
        choices=KINDS,
        action="append",
        help=f"may be given again; else {', '.join(_USUAL)}",
    )
    chosen = parser.parse_args()
    wrong = 0
    for name in chosen.server or _USUAL:
        with running(KINDS[name]()) as server:
            came = compare(server, "ddl_compared", chosen.seed, chosen.statements, _Progress(name))
        for each in came.wrong:
            print(each)
        for reason, statements in sorted(came.reasons.items(), key=lambda each: -len(each[1])):
            print(f"  {len(statements)} unknown: {reason}, for example after {statements[0]}")
        print(_line(name, came), flush=True)
        wrong += len(came.wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        sys.exit(main())
