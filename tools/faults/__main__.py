"""`python -m tools.faults list | run SCENARIO... | soak`: see `--help`, `make faults` and `make
soak`.
"""

import argparse
import json
import logging
import shlex
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from rich.console import Console

from deploy.embedded import EmbeddedError
from deploy.embedded.fetching.progress import say
from tools.bench.measuring.machine import Setting, server_versions, setting
from tools.faults import scenarios
from tools.faults.outcome import Outcome, outcomes_of, report
from tools.faults.pages import write, write_soak
from tools.faults.runner import run_once
from tools.faults.scenario import SCENARIOS, Scenario
from tools.faults.soak import soak
from tools.faults.stage import Servers

_WIDTH: Final = 200
_SHOWN_LINES: Final = 60


def main() -> int:
    """Run the command line.

    The result is the exit code: 0 when nothing was lost, repeated, out of order or failed.
    """
    arguments = _parser().parse_args()
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(143)
    )  # so that everything started here is ended
    logging.getLogger("kazoo").setLevel(logging.CRITICAL)  # faults stop its servers on purpose
    if arguments.command == "list":
        for each in SCENARIOS.values():
            say(f"{each.name:28} {each.what}")
        return 0
    here = replace(
        setting(()),
        command=shlex.join(["python", "-m", "tools.faults", *sys.argv[1:]]),
        versions=server_versions(),
    )
    return _soak(arguments, here) if arguments.command == "soak" else _run(arguments, here)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.faults", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="print the scenarios")
    _add_run(commands.add_parser("run", help="run some scenarios, or all of them"))
    _add_soak(
        commands.add_parser(
            "soak", help="run a load with a random fault every 20 s for a long time"
        )
    )
    return parser


def _add_run(run: argparse.ArgumentParser) -> None:
    run.add_argument("scenario", nargs="*", choices=[*SCENARIOS, []], help="default: all")
    run.add_argument("--times", type=int, default=20)
    run.add_argument(
        "--seed",
        type=int,
        default=1,
        help="seed of the first run; each further run uses the next number",
    )
    run.add_argument(
        "--into",
        type=Path,
        metavar="FOLDER",
        help="add the runs to faults.json in this folder, and write its table again",
    )
    run.add_argument(
        "--transactions",
        action="store_true",
        help="use a transaction topic, whose reports must agree with the rows",
    )


def _add_soak(soaking: argparse.ArgumentParser) -> None:
    soaking.add_argument("--minutes", type=float, default=30)
    soaking.add_argument("--seed", type=int, default=1)
    soaking.add_argument("--rate", type=float, default=500, help="changes per second")
    soaking.add_argument(
        "--into", type=Path, metavar="FOLDER", help="write the result into this folder as soak.md"
    )


def _soak(arguments: argparse.Namespace, here: Setting) -> int:
    with Servers() as servers:
        try:
            found = soak(servers, arguments.minutes, arguments.seed, arguments.rate)
        except AssertionError as failure:
            say(f"FAILED: {failure}")
            return 1
    for line in found.lines():
        say(line)
    if arguments.into:
        write_soak(arguments.into, found.lines(), here)
    return 0 if found.clean else 1


def _run(arguments: argparse.Namespace, here: Setting) -> int:
    seeds = range(arguments.seed, arguments.seed + arguments.times)
    wanted = [(name, seed) for name in arguments.scenario or SCENARIOS for seed in seeds]
    found: list[Outcome] = []
    with Servers() as servers:
        for name, seed in wanted:
            try:
                found.append(run_once(servers, _chosen(name, arguments), seed, len(found)))
            except EmbeddedError as failure:
                say(f"ENDED after {len(found)} of {len(wanted)} runs: {failure}")
                break
            _tell(found[-1])
            if arguments.into:
                write(arguments.into, [*_earlier(arguments.into), found[-1]], here)
    Console(width=_WIDTH).print(report(found).table())
    return 0 if len(found) == len(wanted) and all(each.clean for each in found) else 1


def _chosen(name: str, arguments: argparse.Namespace) -> Scenario:
    found = SCENARIOS[name]
    wanted = arguments.transactions and not found.setup.drops_repeats
    return replace(found, setup=replace(found.setup, transactions=wanted))


def _tell(run: Outcome) -> None:
    figures = (
        f"{run.seen} seen, {run.lost} lost, {run.repeated} repeated, {run.out_of_order} out of "
        f"order, silence {run.silence_s} s"
    )
    what = (
        "FAILED: " + "\n".join(run.failure.splitlines()[:_SHOWN_LINES]) if run.failure else figures
    )
    say(
        f"{run.scenario}, seed {run.seed}, {run.seconds} s: "
        f"{what}{f' ({run.note})' if run.note else ''}"
    )


def _earlier(folder: Path) -> Sequence[Outcome]:
    file = folder / "faults.json"
    return (
        outcomes_of(json.loads(file.read_text(encoding="utf-8"))["measured"])
        if file.exists()
        else ()
    )


__all__ = ["main", "scenarios"]

if __name__ == "__main__":
    sys.exit(main())
