"""What `bootstrap` and `reconcile` need to know beyond the topics and the copies."""

from pathlib import Path
from typing import Annotated

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
    """What an instance asks of rows beyond names."""

    rules: tuple[RowRuleSettings, ...] = ()
    masks: tuple[MaskSettings, ...] = ()
    transforms: tuple[TransformSettings, ...] = ()
    lookups: tuple[LookupSettings, ...] = ()


class SourceServer(RowSettings):
    """One `[[sources]]`: the server that the relay's instance of this name reads, with a user that may SELECT there.

    `name` is the source's own where the instance reads a group of them. `filter`, `routing` and what is asked of rows are those of the
    instance. `tls_ca`: connect by TLS alone, with a server that this authority signed. `driver` holds further settings of MariaDB
    Connector/J by their own names.
    """

    instance: Annotated[str, Field(min_length=1, pattern=r"^[^/]+$")]
    name: Annotated[str, Field(pattern=r"^[^/]*$")] = ""
    host: str
    port: Port = 3306
    user: str
    password: SecretStr = SecretStr("")
    tls_ca: Path | None = None
    connect_timeout_seconds: Annotated[float, Field(gt=0)] = 10
    driver: dict[str, str] = Field(default_factory=dict)
    filter: FilterSettings = FilterSettings()
    routing: RoutingSettings = RoutingSettings()

    @property
    def key(self) -> str:
        """What tells it from all others: the instance's name, for a source of a group `instance/name`."""
        return f"{self.instance}/{self.name}" if self.name else self.instance

    @property
    def of_rows(self) -> RowSettings:
        """Rules and masks alone, as they travel to executors: without what the server is entered with."""
        return RowSettings(rules=self.rules, masks=self.masks)


class BootstrapSettings(Settings):
    """How the first copy goes.

    `parallel` ranges of `range_rows` rows are read and applied at a time. `rows_per_second` holds the mean down by pauses between them.
    `settle_seconds` lies between the look at the positions and the first SELECT: what the relay has published may be seen by other
    sessions a moment later only (with semi-synchronous replication up to its timeout). `notes` is the folder or URI that a restart
    goes on from; None: `_bootstrap` below `copy_root`.
    """

    parallel: Annotated[int, Field(ge=1, le=256)] = 4
    range_rows: Annotated[int, Field(ge=1)] = 100_000
    rows_per_second: Annotated[int, Field(ge=1)] | None = None
    settle_seconds: Annotated[float, Field(ge=0)] = 10
    notes: Annotated[str, Field(min_length=1)] | None = None


class ReconcileSettings(Settings):
    """How source and copy are compared.

    The source is summed up in `parallel` ranges of `range_rows` rows at a time; a checksum stands for about `bucket_rows` rows. Up to
    `max_rows` differing rows are looked at one by one. For `patience_seconds` a difference may turn out to be on its way.
    """

    parallel: Annotated[int, Field(ge=1, le=256)] = 4
    range_rows: Annotated[int, Field(ge=1)] = 500_000
    bucket_rows: Annotated[int, Field(ge=1)] = 10_000
    max_rows: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    patience_seconds: Annotated[float, Field(ge=0)] = 60
