"""The configuration file (TOML), its secrets from the environment."""

import os
import tomllib
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, Field, SecretStr, ValidationError, model_validator

from relay.errors import ConfigurationError
from relay.settings.base import Name, Settings
from relay.settings.instance import InstanceSettings
from relay.settings.servers import KafkaSettings, PlacementSettings, ZooKeeperSettings

Checked = TypeVar("Checked", bound=BaseModel)


class StatusSettings(Settings):
    """Where the relay process answers /healthz, /readyz, /metrics and /status. Port 0 takes a free one; None: no server.

    Every `refresh_seconds` the figures are made anew, and what ZooKeeper shows of the instances with them.
    """

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] | None = 8081
    refresh_seconds: Annotated[float, Field(gt=0)] = 1


class ApiSettings(Settings):
    """Where the admin listens. Writes need `Authorization: Bearer <token>`; without a token every write is refused."""

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8080
    token: SecretStr | None = None


class LogSettings(Settings):
    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    format: Literal["console", "json"] = "console"


class RelaySettings(Settings):
    """The whole file. `installation` tells relays of one Kafka and ZooKeeper apart from another installation's."""

    installation: Name = "roma"
    kafka: KafkaSettings
    zookeeper: ZooKeeperSettings
    placement: PlacementSettings = PlacementSettings()
    instances: tuple[InstanceSettings, ...] = ()
    status: StatusSettings = StatusSettings()
    api: ApiSettings = ApiSettings()
    log: LogSettings = LogSettings()

    @model_validator(mode="after")
    def _names_are_unique(self) -> "RelaySettings":
        names = [instance.name for instance in self.instances]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two instances are called {name!r}")
        return self


def load_settings(path: Path) -> RelaySettings:
    """Read and check the file; `${NAME}` in a string is taken from the environment. Raises ConfigurationError naming the place."""
    return read_settings(RelaySettings, path, "file")


def read_settings(model: type[Checked], path: Path, whole: str) -> Checked:
    """The same for any settings; `whole` is what the file is called where no place within it is wrong. Raises ConfigurationError."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as exc:
        raise ConfigurationError(f"{path} cannot be read: {exc.strerror}.") from exc
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise ConfigurationError(f"{path} is not TOML: {exc}.") from exc
    return _checked(model, document, str(path), whole)


def instance_settings(document: object, place: str, *, resolved: bool = True) -> InstanceSettings:
    """Check the settings of one instance, as for `load_settings`; not `resolved`: `${NAME}` stays, for whoever only checks."""
    return _checked(InstanceSettings, document, place, "document", resolved=resolved)


def _checked(model: type[Checked], document: object, place: str, whole: str, *, resolved: bool = True) -> Checked:
    try:
        return model.model_validate(_with_environment(document, place) if resolved else document)
    except ValidationError as exc:
        places = "; ".join(f"{'.'.join(map(str, e['loc'])) or whole}: {e['msg']}" for e in exc.errors(include_input=False))
        raise ConfigurationError(f"{place}: {places}.") from exc


def _with_environment(value: object, place: str) -> object:
    """Replace `${NAME}` strings, so that no secret need stand in the file."""
    if isinstance(value, dict):
        return {key: _with_environment(item, place) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_environment(item, place) for item in value]
    if isinstance(value, str) and value.startswith("${") and value.endswith("}"):
        name = value[2:-1]
        if name not in os.environ:
            raise ConfigurationError(f"{place} names the environment variable {name}, which is not set.")
        return os.environ[name]
    return value
