"""Bodies of requests and answers about the two servers of an instance's source."""

from dataclasses import fields
from typing import Final, Self

from pydantic import BaseModel, ConfigDict, Field

from relay.model.failover import ServerRole
from relay.state import FailoverView, ServerView, StandingOrders, SwitchNote

_SERVER_FIELDS: Final = tuple(each.name for each in fields(ServerView))


class ProofAnswer(BaseModel):
    """What is known of a server before a switch to it; null: unknown. A false `same_history` does
    not prevent the switch.
    """

    answers: bool
    holds_binlog: bool | None = Field(
        description="It has purged nothing that was not published yet."
    )
    same_history: bool | None = Field(
        description="It has no transaction that replication did not bring."
    )
    has_published: bool | None = Field(description="It has everything that was published.")

    @classmethod
    def of(cls, server: ServerView) -> "ProofAnswer":
        """Return the steps of the proof for a server; without GTIDs only whether the server
        answers.
        """
        if server.behind < 0 or not server.executed:
            return cls(
                answers=server.answers, holds_binlog=None, same_history=None, has_published=None
            )
        return cls(
            answers=server.answers,
            holds_binlog=not server.gone,
            same_history=not server.errant,
            has_published=server.behind == 0,
        )


class ServerAnswer(BaseModel):
    """One of the two servers, as the leading relay read it last.

    Times in Unix milliseconds.
    """

    role: str
    place: str
    answers: bool
    failures: int = Field(description="Heartbeats that failed in a row.")
    error: str
    server_uuid: str
    server_id: int
    executed: str = Field(description="gtid_executed, or MariaDB's gtid_binlog_pos.")
    purged: str
    behind: int = Field(description="Published transactions that it lacks; -1 without GTIDs.")
    lacking: str = Field(
        description="The transactions that `behind` counts. accept-loss gives them up."
    )
    gone: str = Field(
        description="Transactions that it purged before they were published. accept-loss gives "
        "them up."
    )
    errant: str = Field(
        description="Transactions that were written to the server itself, not replicated."
    )
    seen_ms: int
    catch_up_per_second: float | None = Field(
        default=None,
        description="Transactions per second by which `behind` falls, over the views of the last "
        "five minutes that this admin has read; negative: it grows, null: not known.",
    )
    catch_up_seconds: float | None = Field(
        default=None, description="Seconds until `behind` is 0 at this rate; null: not known."
    )
    proof: ProofAnswer = Field(description="Whether it could be read instead, step by step.")

    @classmethod
    def of(cls, server: ServerView) -> "ServerAnswer":
        """Return the server of the relay's view, field by field, with the proof."""
        seen = {name: getattr(server, name) for name in _SERVER_FIELDS}
        return cls.model_validate({**seen, "proof": ProofAnswer.of(server)})


class OrdersAnswer(BaseModel):
    """The operators' orders for one source that are still in effect."""

    number: int
    hold: bool
    switch_to: ServerRole | None
    accepted: str
    accepted_by: str
    by: str
    at_ms: int
    comment: str

    @classmethod
    def of(cls, standing: StandingOrders) -> "OrdersAnswer":
        """Return the orders in effect, with the author and the time of the newest one."""
        return cls.model_validate(standing, from_attributes=True)


class SwitchAnswer(BaseModel):
    """One completed switch to another server. `asked_by` is empty if no operator ordered the
    switch.
    """

    at_ms: int
    to: str
    place: str
    reason: str
    epoch: int
    lost: str
    left_out: str
    errant: str
    accepted_by: str
    asked_by: str
    source: str = Field(description="Of a group: the source that was switched.")

    @classmethod
    def of(cls, note: SwitchNote) -> "SwitchAnswer":
        """Return the view of one recorded switch."""
        return cls.model_validate(note, from_attributes=True)


class SourceFailoverAnswer(BaseModel):
    """The failover state of one source: the followed server, the relay's next decision and its
    reason, both servers, orders, and past switches. `source` is its name in a group, empty if
    the instance has one source.
    """

    source: str
    followed: str
    decision: str
    reason: str
    code: str
    published: str
    servers: list[ServerAnswer]
    orders: OrdersAnswer
    history: list[SwitchAnswer]
    updated_ms: int

    @classmethod
    def of(
        cls,
        source: str,
        view: FailoverView | None,
        standing: StandingOrders,
        history: tuple[SwitchNote, ...],
        servers: list[ServerAnswer] | None = None,
    ) -> Self:
        """Return the failover state of one source.

        source    name of the source in its group; empty for an instance with one source
        view      last report of the leading relay; None: there is no report, and its fields stay
                  empty
        standing  the operators' orders in effect
        history   completed switches
        servers   the servers of `view` with the rates at which they catch up; None: the servers of
                  `view` without rates
        """
        seen = view or FailoverView()
        return cls(
            source=source,
            followed=seen.followed,
            decision=seen.decision,
            reason=seen.reason,
            code=seen.code,
            published=seen.published,
            servers=[ServerAnswer.of(each) for each in seen.servers]
            if servers is None
            else servers,
            orders=OrdersAnswer.of(standing),
            history=[SwitchAnswer.of(each) for each in history],
            updated_ms=seen.updated_ms,
        )


class FailoverAnswer(SourceFailoverAnswer):
    """The failover state of an instance.

    The fields describe the instance's only source. For a group they are empty, and `sources`
    describes every source. `servers` is empty for a source without a standby and without
    `failover.virtual_address`.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "instance": "shop",
                "source": "",
                "followed": "master",
                "decision": "wait",
                "reason": "standby is 1 240 transactions behind",
                "code": "",
                "published": "11111111-1111-1111-1111-111111111111:1-90210",
                "servers": [],
                "orders": {
                    "number": 0,
                    "hold": False,
                    "switch_to": None,
                    "accepted": "",
                    "accepted_by": "",
                    "by": "",
                    "at_ms": 0,
                    "comment": "",
                },
                "history": [],
                "updated_ms": 1767225600000,
                "sources": [],
            }
        }
    )

    instance: str = ""
    sources: list[SourceFailoverAnswer] = Field(default=[], description="Of a group: each source.")


class SourceRequest(BaseModel):
    """Names the source of a group that a request concerns; empty for an instance with one
    source.
    """

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"source": "second"}})

    source: str = ""


class SwitchRequest(SourceRequest):
    """The server that the instance must read from now on."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"to": "standby"}})

    to: ServerRole


class AcceptLossRequest(SourceRequest):
    """The GTIDs whose loss is accepted, as the field `lacking` or `gone` of a server lists them.

    The loss of other transactions is not accepted.
    """

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "example": {"gtids": "11111111-1111-1111-1111-111111111111:90200-90210"}
        },
    )

    gtids: str = Field(min_length=1)
