"""`python -m tools.fuzz --inputs 1000000`: see `--help` and `make fuzz`.

Exit code 1 if an input caused an error that the relay does not name.
"""

import argparse
import sys
from time import monotonic
from typing import Final

from deploy.embedded.fetching.progress import say
from tools.fuzz.children import fuzzed
from tools.fuzz.run import Fuzzer

_SHOWN: Final = 5


def main() -> int:
    """Run the fuzzer; see `--help`. Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--only",
        type=int,
        metavar="NUMBER",
        help="run only this input, in this process, and print the exception that it raises",
    )
    arguments = parser.parse_args()
    if arguments.only is not None:
        say(
            f"input {arguments.only} of seed {arguments.seed}: "
            f"{Fuzzer(arguments.seed).feed(arguments.only)}"
        )
        return 0
    return _run(arguments.seed, arguments.inputs)


def _run(seed: int, inputs: int) -> int:
    began = monotonic()
    outcomes = fuzzed(
        seed, inputs, lambda so_far: say(f"{so_far.inputs} inputs, {len(so_far.findings)} findings")
    )
    say(f"{outcomes.inputs} inputs of seed {seed} in {monotonic() - began:.0f} s")
    for word, count in outcomes.counts.most_common():
        say(f"{count:10}  {word}")
    for number, what in outcomes.findings[:_SHOWN]:
        say(f"\nFINDING, again by: python -m tools.fuzz --seed {seed} --only {number}\n{what}")
    return 1 if outcomes.findings else 0


if __name__ == "__main__":
    sys.exit(main())
