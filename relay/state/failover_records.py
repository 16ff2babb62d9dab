"""The failover documents in ZooKeeper: the operators' orders, the relay's view of the two servers,
and past switches.
"""

from dataclasses import asdict, dataclass
from typing import Final

from relay.model.failover import FailoverOrders, ServerRole
from relay.state.json_object import JsonObject, write_json

SWITCHES_LISTED: Final = 100
"""Largest number of switches in the history document. Older switches are only in the audit trail.
"""


@dataclass(frozen=True, slots=True)
class StandingOrders:
    """The operators' orders about an instance's source, until they are executed or withdrawn.

    `number` rises with every order. `by`, `at_ms` (Unix milliseconds) and `comment` belong to the
    newest order, and `accepted_by` to the newest accepted loss.
    """

    number: int = 0
    hold: bool = False
    switch_to: ServerRole | None = None
    accepted: str = ""
    accepted_by: str = ""
    by: str = ""
    at_ms: int = 0
    comment: str = ""

    @property
    def orders(self) -> FailoverOrders:
        """Return what the failover decision needs, without authors and times."""
        return FailoverOrders(self.hold, self.switch_to, self.accepted)

    def to_document(self) -> bytes:
        """Return the JSON document that `from_document` reads."""
        return write_json(asdict(self))

    @classmethod
    def from_document(cls, value: bytes) -> "StandingOrders":
        """Return the orders in a document. A role that this version does not know is ignored."""
        fields = JsonObject.read(value)
        return cls(
            number=fields.whole("number"),
            hold=fields.truth("hold"),
            switch_to=_role(fields.text("switch_to")),
            accepted=fields.text("accepted"),
            accepted_by=fields.text("accepted_by"),
            by=fields.text("by"),
            at_ms=fields.whole("at_ms"),
            comment=fields.text("comment"),
        )


@dataclass(frozen=True, slots=True)
class ServerView:
    """One server, as the relay last saw it.

    behind   how many published transactions it lacks; -1: unknown, as without GTIDs
    lacking  the GTIDs of these transactions
    gone     GTIDs that the server purged before they were published
    errant   GTIDs that bypassed replication
    seen_ms  when it was polled, in Unix milliseconds
    """

    role: str
    place: str = ""
    answers: bool = False
    failures: int = 0
    error: str = ""
    server_uuid: str = ""
    server_id: int = 0
    executed: str = ""
    purged: str = ""
    behind: int = -1
    lacking: str = ""
    gone: str = ""
    errant: str = ""
    seen_ms: int = 0

    @classmethod
    def read(cls, fields: JsonObject) -> "ServerView":
        """Return the server in the fields of a view. A missing `behind` becomes -1 (unknown)."""
        return cls(
            role=fields.text("role"),
            place=fields.text("place"),
            answers=fields.truth("answers"),
            failures=fields.whole("failures"),
            error=fields.text("error"),
            server_uuid=fields.text("server_uuid"),
            server_id=fields.whole("server_id"),
            executed=fields.text("executed"),
            purged=fields.text("purged"),
            behind=fields.whole("behind", -1),
            lacking=fields.text("lacking"),
            gone=fields.text("gone"),
            errant=fields.text("errant"),
            seen_ms=fields.whole("seen_ms"),
        )


@dataclass(frozen=True, slots=True)
class FailoverView:
    """The state of a source's failover: the server that is read, the relay's decision and its
    reason, and both servers.

    `orders` is the number of the operators' orders that the decision used.
    """

    followed: str = ""
    decision: str = ""
    reason: str = ""
    code: str = ""
    published: str = ""
    orders: int = 0
    servers: tuple[ServerView, ...] = ()
    updated_ms: int = 0

    @property
    def followed_role(self) -> ServerRole | None:
        """Return the role of the followed server; None for a role of another version."""
        return _role(self.followed)

    def server(self, role: ServerRole) -> ServerView | None:
        """Return the server with this role; None if the relay has not polled it yet."""
        return next((server for server in self.servers if server.role == role), None)

    def to_document(self) -> bytes:
        """Return the JSON document that `from_document` reads."""
        return write_json(asdict(self))

    @classmethod
    def from_document(cls, value: bytes) -> "FailoverView":
        """Return the view in a document of any version. Missing fields get their defaults."""
        fields = JsonObject.read(value)
        return cls(
            followed=fields.text("followed"),
            decision=fields.text("decision"),
            reason=fields.text("reason"),
            code=fields.text("code"),
            published=fields.text("published"),
            orders=fields.whole("orders"),
            servers=tuple(ServerView.read(each) for each in fields.objects("servers")),
            updated_ms=fields.whole("updated_ms"),
        )


@dataclass(frozen=True, slots=True)
class SwitchNote:
    """One switch of a source to another server.

    at_ms        when, in Unix milliseconds
    to           the role of the new server
    place        host:port of the new server
    reason       why, as a sentence
    epoch        the epoch after the switch
    lost         published GTIDs that the new server lacks, accepted by `accepted_by`
    left_out     GTIDs that were never published, accepted by `accepted_by`
    errant       GTIDs that bypassed replication on the other server
    asked_by     the operator who ordered the switch, "" if the relay decided
    source       the source of a group, "" for a single source
    """

    at_ms: int
    to: str
    place: str = ""
    reason: str = ""
    epoch: int = 0
    lost: str = ""
    left_out: str = ""
    errant: str = ""
    accepted_by: str = ""
    asked_by: str = ""
    source: str = ""

    @classmethod
    def read(cls, fields: JsonObject) -> "SwitchNote":
        """Return the switch in these fields. Fields that older versions did not write are ""."""
        return cls(
            at_ms=fields.whole("at_ms"),
            to=fields.text("to"),
            place=fields.text("place"),
            reason=fields.text("reason"),
            epoch=fields.whole("epoch"),
            lost=fields.text("lost"),
            left_out=fields.text("left_out"),
            errant=fields.text("errant"),
            accepted_by=fields.text("accepted_by"),
            asked_by=fields.text("asked_by"),
            source=fields.text("source"),
        )


def write_history(notes: tuple[SwitchNote, ...]) -> bytes:
    """Return the document of the newest SWITCHES_LISTED switches, the newest first."""
    return write_json({"switches": [asdict(note) for note in notes[:SWITCHES_LISTED]]})


def read_history(value: bytes) -> tuple[SwitchNote, ...]:
    """Return the switches of a history document, in the document's order."""
    return tuple(SwitchNote.read(each) for each in JsonObject.read(value).objects("switches"))


def _role(text: str) -> ServerRole | None:
    return ServerRole(text) if text in set(ServerRole) else None
