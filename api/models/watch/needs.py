"""Bodies of answers with the problems that need an operator."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

NeedKind = Literal[
    "stopped",
    "waiting",
    "unled",
    "lag",
    "mapping",
    "spool",
    "dead_letters",
    "keys",
    "relay_gone",
    "binlog_short",
]


class NeedView(BaseModel):
    """A problem that needs an operator: reason, remedy, start time, and the page about it."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "kind": "stopped",
                "instance": "shop",
                "server": "",
                "state": "STOPPED",
                "code": "BINLOG_PURGED",
                "reason": "The source no longer has mysql-bin.000012.",
                "remedy": "Restore the missing binlog files on the source.",
                "since_ms": 1767225600000,
                "exact": True,
                "link": "instances/shop",
            }
        }
    )

    kind: NeedKind
    instance: str = Field(description="Name of the instance; empty for a problem of a server.")
    server: str = Field(description="Name of the server; empty for a problem of an instance.")
    state: str
    code: str
    reason: str
    remedy: str
    since_ms: int = Field(description="Unix milliseconds.")
    exact: bool = Field(
        description="Whether the admin saw the change itself; if not, it may have begun earlier."
    )
    link: str = Field(description="Path of the page below the admin's own address.")
    unmapped: str = Field(
        default="",
        description="The real table or database that the mapping lacks; empty for another cause.",
    )


class NeedsView(BaseModel):
    """Everything that an operator must handle, the most urgent first."""

    read_ms: int = Field(description="When the statuses were read (Unix milliseconds).")
    old: bool = Field(description="Whether ZooKeeper did not answer since, so this may be old.")
    needs: list[NeedView]
