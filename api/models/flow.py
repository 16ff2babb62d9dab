"""Pause and throttle as operators see and set them."""

from pydantic import BaseModel, ConfigDict, Field

from relay.state import Flow


class FlowWish(BaseModel):
    """The wanted flow of an instance, with all fields."""

    model_config = ConfigDict(extra="forbid")

    paused: bool = Field(default=False, description="Stand still, in its place of the election.")
    rows_per_second: int | None = Field(
        default=None, ge=0, description="null: as the configuration file says; 0: no limit."
    )
    bytes_per_second: int | None = Field(
        default=None, ge=0, description="Of row events in the binlog; null and 0 as for rows."
    )


class FlowView(FlowWish):
    """The wanted flow of an instance, its author and reason."""

    by: str
    comment: str

    @classmethod
    def of(cls, flow: Flow) -> "FlowView":
        """Return the stored flow, without the version of its node."""
        return cls(
            paused=flow.paused,
            rows_per_second=flow.rows_per_second,
            bytes_per_second=flow.bytes_per_second,
            by=flow.by,
            comment=flow.comment,
        )


class RetiredView(BaseModel):
    """The topics that a retired instance fed."""

    topics: list[str]
