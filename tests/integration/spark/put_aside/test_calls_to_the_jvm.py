"""Calls from Python to the JVM: a batch would need thousands if it made all expressions again."""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pyspark.sql.functions as sf
import pytest
from pyspark.sql import SparkSession

from spark_jobs.transforms import Reader, messages, parse_events
from tests.support.copies.spark_copies import batch, records

_SEARCH = "r\n"
"""How a request of py4j begins that searches a class or a method."""
_RELEASE = "m\n"
"""How a request begins that releases an object of the JVM: garbage collection sends it at any
time."""


@pytest.fixture
def commands(spark: SparkSession) -> Callable[[Callable[[], object]], list[str]]:
    """Returns a function that runs another one and returns the requests that it sent, except
    releases of objects.
    """
    client: Any = type(spark.sparkContext._gateway._gateway_client)  # type: ignore[union-attr]  # noqa: SLF001

    def sent_by(run: Callable[[], object]) -> list[str]:
        sent, send = [], client.send_command

        def noted(self: Any, command: str, *arguments: Any, **options: Any) -> Any:
            if not command.startswith(_RELEASE):
                sent.append(command)
            return send(self, command, *arguments, **options)

        with patch.object(client, "send_command", noted):
            run()
        return sent

    return sent_by


def test_functions_of_spark_are_searched_once(
    commands: Callable[[Callable[[], object]], list[str]],
) -> None:
    sf.upper("name")
    assert [each for each in commands(lambda: sf.upper("name")) if each.startswith(_SEARCH)] == []


def test_a_later_batch_makes_no_expression_again(
    spark: SparkSession, commands: Callable[[Callable[[], object]], list[str]]
) -> None:
    read = records(spark, batch(("1", 1, "a")))

    for kept in vars(messages).values():  # of other tests of this process
        if hasattr(kept, "cache_clear"):
            kept.cache_clear()

    def parse() -> object:
        return parse_events(read, truncates=True, renames=True, reader=Reader(topics=["t"]))

    first, second = len(commands(parse)), len(commands(parse))
    assert second < first / 5
