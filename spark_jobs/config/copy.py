"""Settings of `bootstrap` and `reconcile` beyond the topics and the copies."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr

from relay.settings import (
    FilterSettings,
    LookupSettings,
    MaskSettings,
    Port,
    RoutingSettings,
    RowRuleSettings,
    Settings,
    TransformSettings,
)


class RowSettings(Settings):
    """The settings of an instance that change rows: filters, masks and transforms."""

    rules: tuple[RowRuleSettings, ...] = ()
    """The instance's `[[instances.rules]]`, word for word."""
    masks: tuple[MaskSettings, ...] = ()
    """The instance's `[[instances.masks]]`, with the same salts."""
    transforms: tuple[TransformSettings, ...] = ()
    """The instance's `[[instances.transforms]]`; tables with transforms are not copied."""
    lookups: tuple[LookupSettings, ...] = ()
    """The instance's lookups."""


class SourceServer(RowSettings):
    """One table `[[sources]]`: a server that the relay reads, with a user that may SELECT there."""

    instance: Annotated[str, Field(min_length=1, pattern=r"^[^/]+$")]
    """The relay's instance; one `[[sources]]` for each that feeds the wanted tables."""
    name: Annotated[str, Field(pattern=r"^[^/]*$")] = ""
    """Name of the source in a group; one `[[sources]]` for each source of the group."""
    host: str
    """The server that the instance reads now."""
    port: Port = 3306
    """Port of the server."""
    user: str
    """User with SELECT on the relayed tables."""
    password: SecretStr = SecretStr("")
    """Password of the user."""
    tls_ca: Path | None = None
    """PEM file of the authority. Set: TLS is required."""
    connect_timeout_seconds: Annotated[float, Field(gt=0)] = 10
    """How long a connection may take."""
    read_timeout_seconds: Annotated[float, Field(gt=0)] = 600
    """Seconds that a query may send nothing; then the job ends as `SourceUnreachable`."""
    driver: dict[str, str] = Field(default_factory=dict)
    """Further settings of MariaDB Connector/J."""
    filter: FilterSettings = FilterSettings()
    """The instance's section, word for word."""
    routing: RoutingSettings = RoutingSettings()
    """The instance's section, word for word."""
    key_values: Literal["lossless", "printed"] = "lossless"
    """The instance's `message.key_values`."""
    system_versions: Literal["marked", "rows"] = "marked"
    """The instance's `message.system_versions`."""

    @property
    def key(self) -> str:
        """The unique name: the instance's name, or `instance/name` for a source of a group."""
        return f"{self.instance}/{self.name}" if self.name else self.instance

    @property
    def of_rows(self) -> RowSettings:
        """Return only rules and masks, for executors: without the login to the server."""
        return RowSettings(rules=self.rules, masks=self.masks)


class BootstrapSettings(Settings):
    """The settings of the first copy."""

    parallel: Annotated[int, Field(ge=1, le=256)] = 4
    """Number of ranges that are read in parallel, each over a separate connection."""
    range_rows: Annotated[int, Field(ge=1)] = 100_000
    """Number of rows in one range."""
    rows_per_second: Annotated[int, Field(ge=1)] | None = None
    """Upper bound of the mean rate.

    Pauses between rounds keep it, and a round is at most ten seconds of rows. Not set: no limit.
    """
    settle_seconds: Annotated[float, Field(ge=0)] = 10
    """Time between reading the positions and the first SELECT: other sessions may see published
    rows a moment later (with semi-synchronous replication, up to its timeout).
    """
    patience_seconds: Annotated[float, Field(ge=0)] = 600
    """Seconds that the relay may take to publish the sources' committed transactions.

    Then the job ends as `RelayBehind`.
    """
    notes: Annotated[str, Field(min_length=1)] | None = None
    """Folder or URI of the progress notes, from which a restart continues. Not set: `_bootstrap`
    below `copy_root`.
    """


class ReconcileSettings(Settings):
    """The settings of the comparison of source and copy."""

    parallel: Annotated[int, Field(ge=1, le=256)] = 4
    """Number of ranges whose checksums are computed in parallel."""
    range_rows: Annotated[int, Field(ge=1)] = 500_000
    """Number of rows in one range."""
    bucket_rows: Annotated[int, Field(ge=1)] = 10_000
    """Approximate number of rows that share one checksum."""
    max_rows: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    """Largest number of differing rows that are compared one by one; others are only counted."""
    patience_seconds: Annotated[float, Field(ge=0)] = 60
    """Seconds that the job waits for pending changes before it reports differing rows as
    undecided.
    """
