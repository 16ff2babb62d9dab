"""Bodies of requests and answers about the pause and the rate limits of an instance."""

from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field

from relay.state import Flow


class FlowWish(BaseModel):
    """The requested pause and rate limits of an instance. A missing field keeps its present
    value.
    """

    model_config = ConfigDict(extra="forbid")

    paused: bool = Field(default=False, description="Missing: a pause stays as it is.")
    rows_per_second: int | None = Field(
        default=None,
        ge=0,
        description="null: the limit of the configuration file; 0: no limit. Missing: the present "
        "limit stays.",
    )
    bytes_per_second: int | None = Field(
        default=None,
        ge=0,
        description="Of row events in the binlog; null, 0 and missing as for rows.",
    )

    def applied_to(self, flow: Flow) -> Flow:
        """Return a copy of `flow` with the values of the fields that the request contains."""
        return replace(flow, **self.model_dump(exclude_unset=True))


class FlowView(BaseModel):
    """The pause and the rate limits of an instance, with the author and the reason."""

    paused: bool = Field(description="Whether operators have paused the instance.")
    rows_per_second: int | None = Field(
        description="null: the limit of the configuration file; 0: no limit."
    )
    bytes_per_second: int | None = Field(
        description="Of row events in the binlog; null and 0 as for rows."
    )
    by: str
    comment: str

    @classmethod
    def of(cls, flow: Flow) -> "FlowView":
        """Return the view of a stored flow."""
        return cls(
            paused=flow.paused,
            rows_per_second=flow.rows_per_second,
            bytes_per_second=flow.bytes_per_second,
            by=flow.by,
            comment=flow.comment,
        )


class RetiredView(BaseModel):
    """The topics that a retirement would remove the instance from, or has removed it from."""

    topics: list[str]
