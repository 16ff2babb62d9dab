"""Translates exceptions of Spark, Delta and Kafka into the jobs' own errors."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from spark_jobs import errors
from spark_jobs.errors import (
    BrokerRefused,
    BrokerUnreachable,
    JobError,
    JobFailed,
    OffsetsLost,
    TopicUnknown,
)

# Most telling first: a lost topic also makes requests time out. The words are those of Kafka's
# classes and of Spark's error conditions.
_LEAVES: Final[tuple[tuple[re.Pattern[str], type[JobError], str], ...]] = (
    (
        re.compile(r"KAFKA_DATA_LOSS|OffsetOutOfRangeException"),
        OffsetsLost,
        "The topic no longer has records that the job has not read",
    ),
    (re.compile(r"UnknownTopicOrPartition|InvalidTopic"), TopicUnknown, "A topic does not exist"),
    (
        re.compile(
            r"(Sasl|Ssl)\w*Exception|IllegalSaslState|AuthorizationException|AuthenticationException"
        ),
        BrokerRefused,
        "The broker refuses the job",
    ),
    (
        re.compile(r"No resolvable bootstrap|kafka\.common\.errors\.(Timeout|Disconnect)Exception"),
        BrokerUnreachable,
        "No broker answers",
    ),
)
# What a task on an executor, or a batch inside the query, raised under a name of the job's own:
# Spark hands on its words alone.
_OWN: Final = re.compile(r"spark_jobs\.errors\.(?:\w+\.)?(?P<name>\w+): (?P<sentence>.+)")
_TRACE: Final = re.compile(r"^\s*at |^===|^\s*\.\.\. \d+ more")


@contextmanager
def named_errors(what: str) -> Iterator[None]:
    """Context manager: convert an error of Spark, Delta or Kafka that the block raises to a
    JobError.

    `what` names the servers and topics in the reason.
    """
    try:
        yield
    except (PySparkException, Py4JError) as exc:
        raise _named("\n".join(_texts(exc)), what) from exc


def _named(text: str, what: str) -> JobError:
    own = own_error(text)
    if own is not None:
        return own
    for pattern, leaf, sentence in _LEAVES:
        if pattern.search(text):
            return leaf(f"{sentence} ({what}). {_says(text, pattern)}")
    return JobFailed(f"Spark ended the job ({what}): {next(_lines(text), 'without an error text')}")


def own_error(text: str) -> JobError | None:
    """Return the jobs' own error if the text of a Spark error contains the name of one; None
    otherwise.
    """
    found = _OWN.search(text)
    leaf = getattr(errors, found["name"], None) if found else None
    if found is None or not (isinstance(leaf, type) and issubclass(leaf, JobError)):
        return None
    return leaf(found["sentence"].strip().removesuffix(leaf.remedy).rstrip())


def _says(text: str, pattern: re.Pattern[str]) -> str:
    """Return the first line that shows the cause, if it is a sentence."""
    line = next((each for each in _lines(text) if pattern.search(each)), "")
    cause = re.sub(r"^(.*Exception: |.*?(?=\[KAFKA))", "", line)
    return f"Kafka reports: {cause.rstrip('.')}." if cause else ""


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.splitlines() if line.strip() and not _TRACE.match(line))


def _texts(exc: BaseException | None) -> Iterator[str]:
    """Yield the texts of an exception and of its causes, including Java's."""
    while exc is not None:
        yield str(exc)
        exc = getattr(exc, "cause", None) or exc.__cause__
