"""Delta copies as Trino itself reads them; it runs where ROMA_TRINO_HOME names a Trino."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.integration.spark.sinks.test_delta_readers import HARMLESS_NAMES, filled_copy
from tests.servers.running import running
from tests.support.copies.trino import Trino

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif("ROMA_TRINO_HOME" not in os.environ, reason="ROMA_TRINO_HOME is not set"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
]
WAYS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "plain": ((), {}),
    "odd names": (HARMLESS_NAMES, {}),
    "column mapping": (("first name",), {"delta": {"deletion_vectors": False}}),
    "column mapping and deletion vectors": (("first name",), {}),
    "deletion vectors": ((), {"delta": {"deletion_vectors": True}}),
}


@pytest.fixture(scope="module")
def trino() -> Iterator[Trino]:
    with running(Trino()) as server:
        server.ask("CREATE SCHEMA delta.copies")
        yield server


@pytest.mark.parametrize("way", WAYS)
def test_trino_reads_the_rows_of_a_copy(
    spark: SparkSession, trino: Trino, tmp_path: Path, way: str
) -> None:
    odd, settings = WAYS[way]
    path, expected = filled_copy(spark, tmp_path, odd, **settings)
    table = way.replace(" ", "_")
    trino.ask(
        f"CALL delta.system.register_table('copies', '{table}', 'local://{Path(path).resolve()}')"
    )
    rows = trino.ask(
        "SELECT id, text, n, price, cast(day AS varchar), cast(at AS varchar) "
        f"FROM delta.copies.{table} WHERE NOT _deleted"
    )
    values = [5, "1.50", "2024-02-29", "2024-02-29 12:00:00.000000"]
    assert sorted(rows) == sorted([key, text, *values] for key, text in expected.items())
