"""Checks that Spark's jars exist and fit its version: Spark itself ignores a missing jar."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from zipfile import BadZipFile, ZipFile

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from spark_jobs.errors import JarsRefused
from spark_jobs.spark_util.jvm import java_class

_MANIFEST: Final = "META-INF/MANIFEST.MF"
_FITS: Final = "4.0."
"""The prefix of versions for Spark 4.0."""


@dataclass(frozen=True, slots=True)
class _Part:
    """`name`: of the artifact.

    `member`: a class that shows which jar holds it. `title`: in its manifest, where its version
    must fit.
    """

    name: str
    member: str
    title: str = ""


_PARTS: Final = (
    _Part("delta-spark_2.13", "io.delta.sql.DeltaSparkSessionExtension", "delta-spark"),
    _Part("delta-storage", "io.delta.storage.LogStore", "delta-storage"),
    _Part(
        "spark-sql-kafka-0-10_2.13",
        "org.apache.spark.sql.kafka010.KafkaSourceProvider",
        "Kafka 0.10+ Source for Structured Streaming",
    ),
    _Part(
        "spark-token-provider-kafka-0-10_2.13",
        "org.apache.spark.kafka010.KafkaTokenUtil",
        "Kafka 0.10+ Token Provider for Streaming",
    ),
    _Part("kafka-clients", "org.apache.kafka.clients.consumer.KafkaConsumer"),
    _Part("commons-pool2", "org.apache.commons.pool2.ObjectPool"),
)


def check_jars(jars: Sequence[Path]) -> None:
    """Raise JarsRefused for a missing or invalid file, for a version that Spark 4.0 does not
    support, or if a required library is in none of the jars.
    """
    found: set[str] = set()
    for jar in jars:
        members, manifest = _read(jar)
        held = [part for part in _PARTS if f"{part.member.replace('.', '/')}.class" in members]
        found.update(part.name for part in held)
        _check_version(jar, held, manifest)
    if missing := [part.name for part in _PARTS if part.name not in found]:
        raise JarsRefused(f"None of `jars` contains {', '.join(missing)}.")


def check_submitted(spark: SparkSession) -> None:
    """Raise JarsRefused if spark-submit started a JVM without Delta Lake or the Kafka source."""
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        return
    loader = java_class(spark, "java.lang.Thread").currentThread().getContextClassLoader()
    for part in _PARTS:
        try:
            loader.loadClass(part.member)
        except Py4JJavaError as exc:
            raise JarsRefused(f"Spark's JVM has no {part.name}.") from exc


def _read(jar: Path) -> tuple[frozenset[str], Mapping[str, str]]:
    try:
        with ZipFile(jar) as archive:
            members = frozenset(archive.namelist())
            text = archive.read(_MANIFEST).decode(errors="replace") if _MANIFEST in members else ""
    except FileNotFoundError as exc:
        raise JarsRefused(f"`jars` names {jar}, which does not exist.") from exc
    except (OSError, BadZipFile) as exc:
        raise JarsRefused(f"`jars` names {jar}, which cannot be read as a jar ({exc}).") from exc
    pairs = (line.partition(": ") for line in text.splitlines())
    return members, {name: value.strip() for name, _, value in pairs}


def _check_version(jar: Path, held: Iterable[_Part], manifest: Mapping[str, str]) -> None:
    """Raise JarsRefused if the manifest names a version that does not fit.

    The manifest of a jar that was merged from several does not describe them, and is not checked.
    """
    version = manifest.get("Implementation-Version", "")
    for part in held:
        if (
            part.title
            and manifest.get("Implementation-Title") == part.title
            and not version.startswith(_FITS)
        ):
            raise JarsRefused(
                f"`jars` names {jar}, which is {part.name.rpartition('_')[0] or part.name} "
                f"{version}."
            )
