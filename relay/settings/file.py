"""Reads the configuration file (TOML) and inserts the secrets that it names.

The programs call `load_settings` when they start. `instance_settings` checks an instance that an
operator defined at run time.
"""

import tomllib
from pathlib import Path
from typing import Annotated, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, Field, ValidationError, model_validator

from relay.errors import ConfigurationError
from relay.settings.base import Name, Settings
from relay.settings.instance import InstanceSettings
from relay.settings.secrets import (
    RUN_TIME_VARIABLES,
    RunTimeVariables,
    Secret,
    Substituted,
    Variable,
    variable_name,
)
from relay.settings.servers import CanalServerSettings, KafkaSettings, PlacementSettings
from relay.settings.sign_in import OidcSettings, TrustedHeaderSettings
from relay.settings.unknown_keys import told_errors
from relay.settings.zookeeper import ZooKeeperSettings

Checked = TypeVar("Checked", bound=BaseModel)


LabelName: TypeAlias = Annotated[str, Field(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$")]
"""The name of a label in Prometheus."""


class StatusSettings(Settings):
    """The HTTP server of the relay process: /healthz, /readyz, /metrics and /status."""

    host: str = "127.0.0.1"
    """Address that the server listens at."""
    port: Annotated[int, Field(ge=0, le=65535)] | None = 8081
    """Port of the server. 0: a free one."""
    hosts: tuple[str, ...] = ()
    """Names that clients reach the server by, beside `host`, the machine's own name, localhost and
    every IP address.

    `*`: any name.
    """
    refresh_seconds: Annotated[float, Field(gt=0)] = 1
    """Interval between updates of metrics and of the status in ZooKeeper."""
    tables: Annotated[int, Field(ge=0, le=10_000)] = 100
    """Largest number of logical tables of each instance that have separate metrics, and of real
    tables that have a separate rate in its status.

    All other tables are counted together as `(other)`.
    """


class AdminTlsSettings(Settings):
    """The certificate of the admin. Changed files are used within ten seconds."""

    cert: Path
    """PEM file of the certificate and those of its authorities."""
    key: Path
    """PEM file of its key, without a passphrase."""


class ApiSettings(Settings):
    """Address and TLS of the admin, its users' sessions, and the right to write."""

    host: str = "127.0.0.1"
    """Address that the admin listens at."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8080
    """Port of the admin. 0: a free one."""
    hosts: tuple[str, ...] = ()
    """Names that clients reach the admin by, beside `host`, localhost and every IP address.

    `*`: any name.
    """
    token: Secret | None = None
    """Token that holds all rights, sent as `Authorization: Bearer <token>`.

    Prefer tokens of users (`roma tokens add`).
    """
    anonymous_reads: Literal["until_users", "never"] = "until_users"
    """Who may read without a token: everybody until the first user is added (`until_users`), or
    nobody (`never`).

    With `never`, reading also needs a token while no user exists, for example after ZooKeeper lost
    its data.
    """
    lag_limit_seconds: Annotated[float, Field(gt=0)] = 60.0
    """An instance that lags longer than this for two minutes is listed under "Needs attention"."""
    prometheus_url: Secret | None = None
    """Address of a Prometheus server, with user and password if it requires them. The admin reads
    the charts of lag and rate from it.

    Not set: the charts show what the admin has seen since its start.
    """
    prometheus_labels: dict[LabelName, str] = Field(default_factory=dict)
    """Labels and their values of this installation's series in Prometheus, such as `job`.

    Required if one Prometheus scrapes several installations.
    """
    session_seconds: Annotated[int, Field(ge=60, le=2_592_000)] = 43_200
    """A user must sign in again after this time."""
    session_idle_seconds: Annotated[int, Field(ge=60, le=2_592_000)] = 7_200
    """A user must sign in again after this time without a request. An open page with live figures
    sends requests, so its session stays in use.
    """
    tls: AdminTlsSettings | None = None
    """Certificate and key. Not set: the admin uses plain HTTP."""
    behind_proxy: bool = False
    """A proxy with TLS is in front of the admin and sends X-Forwarded-For and X-Forwarded-Proto."""
    proxies: tuple[str, ...] = ("127.0.0.1", "::1")
    """Addresses or networks of the proxy. The admin reads these headers from no other sender."""
    oidc: OidcSettings | None = None
    """Sign-in by an OpenID Connect provider. Not set: none."""
    trusted_header: TrustedHeaderSettings | None = None
    """Sign-in by headers of a proxy. Not set: the admin ignores such headers."""


class SecretsSettings(Settings):
    """Where the value of `${NAME}` is read: in the file NAME in `folder`, otherwise in the
    environment variable NAME.

    The relay reads secrets again at each login.
    """

    folder: Path | None = None
    """Folder of secret files. A file NAME there replaces the environment variable NAME."""
    run_time: tuple[Annotated[str, Field(pattern=r"^[A-Za-z_*][A-Za-z0-9_*]*$")], ...] = (
        RUN_TIME_VARIABLES,
    )
    """Variables that instances defined at run time may use in their secret fields.

    `*` matches any characters.
    """

    def of_documents(self, *, resolved: bool = True) -> RunTimeVariables:
        """Return the rules for variables in documents that are edited at run time.

        `resolved` False: documents keep the text `${NAME}`. Only its name is checked, and no value
        is read.
        """
        return RunTimeVariables(self.run_time, self.folder, resolved)


class LogSettings(Settings):
    """What the relay writes to standard error."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """The least severe level that is written."""
    format: Literal["console", "json"] = "console"
    """Readable text, or one JSON object per line."""


class BugReportSettings(Settings):
    """Where the relay stores events that show a bug. Only the relay's user can read them."""

    folder: Path | None = None
    """Folder of the reports.

    Not set: `bug-reports` in the service's state folder (systemd), otherwise a folder of the
    relay's user in the temporary folder.
    """
    limit_files: Annotated[int, Field(ge=0)] = 20
    """Largest number of reports. The relay writes no report beyond it."""
    limit_bytes: Annotated[int, Field(ge=0)] = 32_000_000
    """Largest size of one report."""


class RelaySettings(Settings):
    """The whole configuration file."""

    installation: Name = "roma"
    """Name that separates the relays of one Kafka and ZooKeeper from other installations.

    Part of transactional ids, topic names and ZooKeeper paths; never change it after the first row.
    """
    kafka: KafkaSettings
    """How to reach Kafka."""
    zookeeper: ZooKeeperSettings
    """How to reach ZooKeeper."""
    placement: PlacementSettings = PlacementSettings()
    """Distribution of instances over relays."""
    instances: tuple[InstanceSettings, ...] = ()
    """The sources, each relayed as one ordered stream."""
    status: StatusSettings = StatusSettings()
    """The relay's HTTP server."""
    api: ApiSettings = ApiSettings()
    """The HTTP server of the admin."""
    canal_server: CanalServerSettings | None = None
    """The server for clients of Canal. Not set: none."""
    log: LogSettings = LogSettings()
    """What the relay writes to standard error."""
    secrets: SecretsSettings = SecretsSettings()
    """Source of `${NAME}`."""
    bug_reports: BugReportSettings = BugReportSettings()
    """Where events that show a bug are stored."""

    @model_validator(mode="after")
    def _names_are_unique(self) -> "RelaySettings":
        names = [instance.name for instance in self.instances]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two instances are called {name!r}; rename one of them")
        return self


def load_settings(path: Path) -> RelaySettings:
    """Return the settings in a configuration file, with values in place of `${NAME}`
    (docs/admin.md).

    Raises ConfigurationError, which names the file and the wrong key.
    """
    return read_settings(RelaySettings, path, "file")


def read_settings(model: type[Checked], path: Path, whole: str) -> Checked:
    """Return the settings in a file, checked by `model`; used for the configuration files of all
    programs.

    `whole` is the name of the file in error messages that concern no single key. Raises
    ConfigurationError.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as exc:
        raise ConfigurationError(
            f"{path} cannot be read: {exc.strerror}.",
            remedy="Give the path of a file that this user may read, and start again.",
        ) from exc
    except UnicodeDecodeError as exc:
        raise ConfigurationError(
            f"{path} is not UTF-8 (byte {exc.start}).", remedy="Save the file as UTF-8."
        ) from exc
    except tomllib.TOMLDecodeError as exc:
        raise ConfigurationError(f"{path} is not TOML: {exc}.") from exc
    return checked_settings(
        model, _with_variables(document, str(path), _folder_of(document)), str(path), whole
    )


def instance_settings(
    document: object, place: str, variables: RunTimeVariables
) -> InstanceSettings:
    """Return the settings of an instance that is defined at run time.

    `document` is the parsed JSON, `place` its name in error messages, and `variables` the variables
    that it may use. Raises ConfigurationError.
    """
    return checked_settings(InstanceSettings, document, place, "document", variables)


def checked_settings(
    model: type[Checked],
    document: object,
    place: str,
    whole: str,
    variables: RunTimeVariables | None = None,
) -> Checked:
    """Return the settings in a parsed document, checked by `model`.

    `place` names the document in error messages. `whole` is written there instead of a key if no
    single key is wrong. `variables` restricts the variables that the document may use; None:
    `${NAME}` is already replaced. Raises ConfigurationError.
    """
    try:
        return model.model_validate(document, context=variables)
    except ValidationError as exc:
        places = "; ".join(
            f"{'.'.join(map(str, e['loc'])) or whole}: {e['msg']}" for e in told_errors(exc, model)
        )
        raise ConfigurationError(f"{place}: {places}{'' if places.endswith('?') else '.'}") from exc


def _folder_of(document: dict[str, object]) -> Path | None:
    """Return `secrets.folder` of the unchecked document, None if it has no such text.

    Variables are replaced before the document is checked. The later check reports a wrong folder.
    """
    secrets = document.get("secrets")
    folder = secrets.get("folder") if isinstance(secrets, dict) else None
    return Path(folder) if isinstance(folder, str) else None


def _with_variables(value: object, place: str, folder: Path | None) -> object:
    """Replace `${NAME}` strings, so that the file need not contain secrets."""
    if isinstance(value, dict):
        return {key: _with_variables(item, place, folder) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_variables(item, place, folder) for item in value]
    name = variable_name(value)
    if name is None:
        return value
    try:
        return Substituted.of(Variable(name, folder))
    except ValueError as exc:
        raise ConfigurationError(f"{place} {exc}.") from exc
