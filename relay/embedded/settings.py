"""The settings of embedded changes, and the instance settings that are derived from them."""

import re
from typing import Annotated, Final, Literal

from pydantic import Field, field_validator

from relay.settings import (
    BufferSettings,
    FilterSettings,
    InstanceSettings,
    MaskSettings,
    MessageSettings,
    Name,
    RoutingSettings,
    RowRuleSettings,
    Settings,
    SourceSettings,
    StartSettings,
    TransactionSettings,
    TransformSettings,
)

_TOPIC: Final = "embedded"
"""Topic name for rows of databases without a mapping. It appears only in `Change.place`."""
_BATCH_BYTES: Final = 1_000_000
_BATCH_MS: Final = 200
_PART_BYTES: Final = 16_000_000
"""Size in bytes above which a source transaction is passed to the program in parts, so that memory
use is bounded.
"""
_NO_TIMEOUT_MS: Final = 86_400_000 * 24
"""Transaction timeout without practical effect, in milliseconds: no broker limits how long a batch
is open while the program works on a change.
"""


class EmbeddedSettings(Settings):
    """Which changes a program receives, and in which form. The fields are those of an instance."""

    source: SourceSettings
    """The server that is read. A standby is for relays with Kafka."""
    tables: Annotated[tuple[str, ...], Field(min_length=1)]
    r"""Real tables: `database.table`, or an expression over that between slashes
    (`/shop\.orders_\d+/`).
    """
    name: Name = "embedded"
    """Name of the program in its log."""
    start: StartSettings = StartSettings()
    """Where reading begins without a saved position. Not set: at the end of the binlog."""
    mapping: dict[str, str] = Field(default_factory=dict)
    """The mapping documents, dataId to JSON text. Without them logical names are the real ones."""
    routing: RoutingSettings = RoutingSettings()
    """What happens to names that `mapping` does not list."""
    rules: tuple[RowRuleSettings, ...] = ()
    """Which rows and columns the program receives."""
    masks: tuple[MaskSettings, ...] = ()
    """How values are hidden."""
    transforms: tuple[TransformSettings, ...] = ()
    """Functions for the rows of a table."""
    ddl: bool = False
    """Also deliver the DDL of the tables."""
    row_image: Literal["full", "partial"] = "full"
    """`partial` accepts rows that lack columns (MINIMAL, NOBLOB)."""
    values: Literal["python", "text"] = "python"
    """Values as Python types, or as the texts that the server prints."""
    buffer: BufferSettings = BufferSettings()
    """The buffer between the thread that reads the source and the program's thread."""
    unreachable_seconds: Annotated[float, Field(ge=0)] = 60
    """Seconds for which an unreachable source is tried again before its error is raised."""

    @field_validator("source")
    @classmethod
    def _has_no_standby(cls, source: SourceSettings) -> SourceSettings:
        if source.standby is not None:
            raise ValueError("a switch to a standby needs a relay with Kafka")
        return source

    @field_validator("tables")
    @classmethod
    def _names_tables(cls, tables: tuple[str, ...]) -> tuple[str, ...]:
        for each in tables:
            if not _is_expression(each) and "." not in each:
                raise ValueError(f"{each!r} is not of the form database.table")
        return tables

    @property
    def instance(self) -> InstanceSettings:
        """Return the settings of an instance that publishes the same changes."""
        routing = self.routing
        if not self.mapping:
            routing = RoutingSettings(unmapped_db="default_topic", default_topic=_TOPIC)
        return InstanceSettings(
            name=self.name,
            source=self.source,
            start=self.start,
            filter=FilterSettings(filter_regex=",".join(map(_expression, self.tables))),
            rules=self.rules,
            masks=self.masks,
            transforms=self.transforms,
            routing=routing,
            message=MessageSettings(
                headers="full", ddl="inline" if self.ddl else "drop", row_image=self.row_image
            ),
            transaction=TransactionSettings(
                timeout_ms=_NO_TIMEOUT_MS,
                busy_commit_ms=_BATCH_MS,
                busy_commit_bytes=_BATCH_BYTES,
                split_bytes=_PART_BYTES,
            ),
            buffer=self.buffer,
        )


def _is_expression(table: str) -> bool:
    return len(table) > 2 and table.startswith("/") and table.endswith("/")


def _expression(table: str) -> str:
    return table[1:-1] if _is_expression(table) else re.escape(table).replace(",", "\\x2c")
