"""A job's configuration (TOML) as frozen models: unknown keys are errors, secrets are never printed."""

import os
import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from spark_jobs.errors import JobConfigurationError


class Settings(BaseModel):
    """Base of every settings model."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class KafkaSource(Settings):
    """Which topics are read. `client` holds further Kafka client settings (security.protocol, sasl.*) as they are.

    `patience_seconds`: how long a broker may be silent before the job ends and says so.
    """

    bootstrap_servers: str
    topics: Annotated[tuple[str, ...], Field(min_length=1)]
    client: dict[str, str] = {}
    jaas: SecretStr | None = None
    max_offsets_per_trigger: Annotated[int, Field(ge=1)] | None = None
    patience_seconds: Annotated[float, Field(ge=1)] = 60


class JobSettings(Settings):
    """One dedup job: topics → one Delta table per logical table below `copy_root`.

    `copy_root` and `checkpoint` are paths, or URIs of a file system that Spark reaches (hdfs://, s3a://).
    `trigger_seconds` None: take what is there, then end. `checkpoint` is the stream's memory and belongs to one job alone.
    `master` None: what spark-submit says; without it, all cores of this machine.
    `merge_threads`: how many tables of a batch are merged at the same time. `jvm_options` are added to the driver's own.
    """

    kafka: KafkaSource
    copy_root: Annotated[str, Field(min_length=1)]
    checkpoint: Annotated[str, Field(min_length=1)] | None = None
    trigger_seconds: Annotated[float, Field(gt=0)] | None = None
    master: str | None = None
    shuffle_partitions: Annotated[int, Field(ge=1)] = 4
    merge_threads: Annotated[int, Field(ge=1, le=64)] = 4
    jvm_options: str = ""
    jars: tuple[Path, ...] = ()


def load_settings(path: Path) -> JobSettings:
    """Read and check the file; `${NAME}` in a string is taken from the environment. Raises JobConfigurationError naming the place."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as exc:
        raise JobConfigurationError(f"{path} cannot be read: {exc.strerror}.") from exc
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise JobConfigurationError(f"{path} is not TOML: {exc}.") from exc
    try:
        return JobSettings.model_validate(_with_environment(document, path))
    except ValidationError as exc:
        places = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in exc.errors(include_input=False))
        raise JobConfigurationError(f"{path}: {places}.") from exc


def _with_environment(value: object, path: Path) -> object:
    """Replace `${NAME}` strings, as the relay's own file has them: no secret need stand in the file."""
    if isinstance(value, dict):
        return {key: _with_environment(item, path) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_environment(item, path) for item in value]
    if not (isinstance(value, str) and value.startswith("${") and value.endswith("}")):
        return value
    try:
        return os.environ[value[2:-1]]
    except KeyError as exc:
        raise JobConfigurationError(f"{path} names the environment variable {value[2:-1]}, which is not set.") from exc
