"""Parses the command-line arguments of `bootstrap` and `reconcile`."""

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class CopyArguments:
    """The parsed command-line arguments of `bootstrap` or `reconcile`.

    config   the configuration file
    trace    whether Spark's log of errors is shown
    tables   names of logical tables; empty: all tables
    anew     whether `bootstrap` copies finished tables again
    repair   whether `reconcile` repairs differing rows
    as_json  whether results are printed as JSON
    """

    config: Path
    trace: bool
    tables: tuple[str, ...] = ()
    anew: bool = False
    repair: bool = False
    as_json: bool = False


def copy_arguments(
    name: str, description: str | None, arguments: Sequence[str] | None
) -> CopyArguments:
    """Parse the command line. For invalid arguments argparse ends the process with exit code 2.

    name         name of the job as a command of `roma`
    description  text of the help
    arguments    the arguments; None: those of the process
    """
    given = vars(_parser(name, description).parse_args(arguments))
    flags = {flag: bool(given.get(flag)) for flag in ("anew", "repair")}
    return CopyArguments(
        given["config"],
        given["trace"],
        tuple(given["table"]),
        **flags,
        as_json=bool(given.get("json")),
    )


def _parser(name: str, description: str | None) -> ArgumentParser:
    parser = ArgumentParser(prog=f"roma {name}", description=description)
    parser.add_argument("--config", type=Path, required=True, help="the job's TOML file")
    parser.add_argument(
        "--table",
        action="append",
        default=[],
        help="only this logical table (database.table); may be repeated",
    )
    if name == "bootstrap":
        parser.add_argument(
            "--anew", action="store_true", help="copy all tables from the start, also finished ones"
        )
        parser.add_argument(
            "--json", action="store_true", help="print one JSON object a table for machines"
        )
    else:
        parser.add_argument(
            "--repair",
            action="store_true",
            help="write the differing rows to the copy again; the row with the greater order "
            "key stays",
        )
        parser.add_argument(
            "--json", action="store_true", help="print one JSON object for machines"
        )
    parser.add_argument(
        "--trace", action="store_true", help="show Spark's output when the job fails"
    )
    return parser
