"""Parses the command-line arguments of both deduplication jobs."""

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from spark_jobs.config.job import JobSettings, load_settings
from spark_jobs.kafka.source import Bounds


@dataclass(frozen=True, slots=True)
class Arguments:
    """The parsed command-line arguments of a deduplication job.

    config    the configuration file
    trace     whether Spark's log of errors is shown
    raw_rule  whether changes are ordered by binlog offsets instead of order keys
    history   whether all versions of rows are stored too
    as_json   whether results are printed as JSON
    bounds    which messages a batch job reads
    """

    config: Path
    trace: bool = False
    raw_rule: bool = False
    history: bool = False
    as_json: bool = False
    bounds: Bounds = field(default_factory=Bounds)

    def settings(self) -> JobSettings:
        """Return the settings of the configuration file, changed by those of the command line.

        Raises JobConfigurationError.
        """
        settings = load_settings(self.config)
        return settings.model_copy(
            update={
                "raw_rule": settings.raw_rule or self.raw_rule,
                "history": settings.history or self.history,
            },
        )


def read_arguments(
    name: str, description: str | None, arguments: Sequence[str] | None, *, bounded: bool = False
) -> Arguments:
    """Parse the command line. For invalid arguments argparse ends the process with exit code 2.

    name         name of the job as a command of `roma`
    description  text of the help
    arguments    the arguments; None: those of the process
    bounded      whether the command accepts a range of messages
    """
    parser = ArgumentParser(prog=f"roma {name}", description=description)
    parser.add_argument("--config", type=Path, required=True, help="the job's TOML file")
    parser.add_argument(
        "--trace", action="store_true", help="show Spark's output when the job fails"
    )
    parser.add_argument(
        "--raw-rule",
        action="store_true",
        help="order by es and the raw binlog offset, to demonstrate that such copies are wrong",
    )
    parser.add_argument(
        "--history", action="store_true", help="keep every version of every row beside the newest"
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object a batch for machines"
    )
    if bounded:
        _add_bounds(parser)
    given = parser.parse_args(arguments)
    bounds = (
        Bounds(given.since, given.until, given.from_offsets, given.to_offsets)
        if bounded
        else Bounds()
    )
    return Arguments(given.config, given.trace, given.raw_rule, given.history, given.json, bounds)


def _add_bounds(parser: ArgumentParser) -> None:
    first, last = parser.add_mutually_exclusive_group(), parser.add_mutually_exclusive_group()
    first.add_argument(
        "--since",
        type=_moment,
        metavar="TIME",
        help="read messages published from this time on: 2026-01-31T12:00:00, UTC",
    )
    first.add_argument(
        "--from-offsets",
        metavar="JSON",
        help='begin at these offsets, for every partition: {"topic":{"0":17,"1":-2}}; -2 '
        "is the oldest offset",
    )
    last.add_argument(
        "--until", type=_moment, metavar="TIME", help="read messages published before this time"
    )
    last.add_argument(
        "--to-offsets",
        metavar="JSON",
        help='end before these offsets: {"topic":{"0":23,"1":-1}}; -1 is the end',
    )


def _moment(text: str) -> datetime:
    """A time of ISO 8601; UTC where it names no zone, whatever the zone of this machine."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
