"""The decision about the source, as its whole table and as rules that hold for every situation."""

from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.ha import Action, Decision, Situation, SwitchRules, decide, followed_role
from relay.model.failover import FailoverOrders, Published, ServerRole, ServerSeen
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import SourceIdentity

M: Final = "11111111-1111-1111-1111-111111111111"
S: Final = "22222222-2222-2222-2222-222222222222"
OTHER: Final = "33333333-3333-3333-3333-333333333333"

MASTER: Final = ServerSeen(
    ServerRole.MASTER,
    "m:1",
    True,
    seen_ms=1,
    server_uuid=M,
    server_id=1,
    gtids=True,
    executed=f"{M}:1-10",
)
STANDBY: Final = ServerSeen(
    ServerRole.STANDBY,
    "s:1",
    True,
    seen_ms=1,
    server_uuid=S,
    server_id=2,
    gtids=True,
    executed=f"{M}:1-10",
)
DEAD: Final = replace(MASTER, answers=False, failures=3, error="gone.")
SHAKY: Final = replace(DEAD, failures=2)
BEHIND: Final = replace(STANDBY, executed=f"{M}:1-4")
NEARLY: Final = replace(STANDBY, executed=f"{M}:1-8")
PURGED: Final = replace(STANDBY, executed=f"{M}:1-20", purged=f"{M}:1-15")
SILENT: Final = replace(STANDBY, answers=False, failures=1, error="silent.")
WITHOUT_GTIDS: Final = replace(STANDBY, gtids=False, executed="")
MARIADB: Final = replace(STANDBY, mariadb=True, executed="0-1-10")
STRANGER: Final = replace(MASTER, server_uuid=OTHER)
STRANGER_BEHIND: Final = replace(STRANGER, executed=f"{M}:1-9")

BY_HAND: Final = SwitchRules(3, automatic=False)
AUTOMATIC: Final = SwitchRules(3, automatic=True)
VIRTUAL: Final = SwitchRules(3, automatic=False, virtual_address=True)
FALLING_BACK: Final = SwitchRules(3, automatic=True, without_gtid=True)

BY_DIGEST: Final = replace(FALLING_BACK, by_digest=True)

NONE: Final = FailoverOrders()
HOLD: Final = FailoverOrders(hold=True)
SWITCH: Final = FailoverOrders(switch_to=ServerRole.STANDBY)
HERE: Final = FailoverOrders(switch_to=ServerRole.MASTER)
ACCEPTED: Final = FailoverOrders(accepted=f"{M}:5-10")
PART_ACCEPTED: Final = FailoverOrders(accepted=f"{M}:5-9")
PURGE_ACCEPTED: Final = FailoverOrders(accepted=f"{M}:11-15")

TABLE: Final = [
    # what is known of the two, the rules, the orders; what follows, and a piece of the reason
    ("healthy", MASTER, STANDBY, AUTOMATIC, NONE, Action.STAY, ""),
    ("alone", MASTER, None, AUTOMATIC, NONE, Action.STAY, ""),
    (
        "a heartbeat or two failed",
        SHAKY,
        STANDBY,
        AUTOMATIC,
        NONE,
        Action.STAY,
        "2 of 3 heartbeats failed",
    ),
    (
        "dead, and an operator decides",
        DEAD,
        STANDBY,
        BY_HAND,
        NONE,
        Action.STAY,
        "only an operator can order a switch",
    ),
    ("dead, and held", DEAD, STANDBY, AUTOMATIC, HOLD, Action.STAY, "forbidden a switch"),
    ("dead", DEAD, STANDBY, AUTOMATIC, NONE, Action.SWITCH, "failed 3 heartbeats"),
    (
        "dead, without a standby",
        DEAD,
        None,
        AUTOMATIC,
        NONE,
        Action.STAY,
        "No standby is configured",
    ),
    ("both dead", DEAD, SILENT, AUTOMATIC, NONE, Action.STAY, "does not answer: silent"),
    (
        "dead, and the standby lags",
        DEAD,
        BEHIND,
        AUTOMATIC,
        NONE,
        Action.WAIT,
        "standby is 6 transactions behind",
    ),
    (
        "dead, and the standby lags a little",
        DEAD,
        NEARLY,
        AUTOMATIC,
        NONE,
        Action.WAIT,
        "standby is 2 transactions behind",
    ),
    ("dead, and the loss is accepted", DEAD, BEHIND, AUTOMATIC, ACCEPTED, Action.SWITCH, ""),
    (
        "dead, and a part of the loss is accepted",
        DEAD,
        BEHIND,
        AUTOMATIC,
        PART_ACCEPTED,
        Action.WAIT,
        "1 transaction behind",
    ),
    (
        "dead, and the standby is purged",
        DEAD,
        PURGED,
        AUTOMATIC,
        NONE,
        Action.STOP,
        f"binlog of {M}:11-15",
    ),
    (
        "dead, and the purged are given up",
        DEAD,
        PURGED,
        AUTOMATIC,
        PURGE_ACCEPTED,
        Action.SWITCH,
        "",
    ),
    ("dead, without GTIDs", DEAD, WITHOUT_GTIDS, AUTOMATIC, NONE, Action.STOP, "nothing proves"),
    (
        "dead, without GTIDs, falling back",
        DEAD,
        WITHOUT_GTIDS,
        FALLING_BACK,
        NONE,
        Action.SWITCH,
        "nothing proves",
    ),
    (
        "dead, without GTIDs, by digests",
        DEAD,
        WITHOUT_GTIDS,
        BY_DIGEST,
        NONE,
        Action.SWITCH,
        "Digests will show which transactions the standby has.",
    ),
    (
        "dead, by digests, and GTIDs say more",
        DEAD,
        BEHIND,
        BY_DIGEST,
        NONE,
        Action.WAIT,
        "standby is 6 transactions behind",
    ),
    (
        "dead, and the standby is of the other family",
        DEAD,
        MARIADB,
        AUTOMATIC,
        NONE,
        Action.STOP,
        "The standby is MariaDB and the published GTIDs are those of MySQL",
    ),
    ("asked to switch", MASTER, STANDBY, BY_HAND, SWITCH, Action.SWITCH, "operator ordered"),
    (
        "asked to switch while held",
        MASTER,
        STANDBY,
        BY_HAND,
        replace(SWITCH, hold=True),
        Action.SWITCH,
        "operator ordered",
    ),
    ("asked to go where it is", MASTER, STANDBY, BY_HAND, HERE, Action.STAY, ""),
    (
        "asked, and the standby lags",
        MASTER,
        BEHIND,
        BY_HAND,
        SWITCH,
        Action.STAY,
        "6 transactions behind",
    ),
    (
        "asked, and the standby lags less than a heartbeat",
        MASTER,
        NEARLY,
        BY_HAND,
        SWITCH,
        Action.SWITCH,
        "operator ordered",
    ),
    (
        "asked, and the standby is silent",
        MASTER,
        SILENT,
        BY_HAND,
        SWITCH,
        Action.STAY,
        "does not answer",
    ),
    (
        "asked, and the standby is purged",
        MASTER,
        PURGED,
        BY_HAND,
        SWITCH,
        Action.STAY,
        "no longer has the binlog",
    ),
    ("asked, without GTIDs", MASTER, WITHOUT_GTIDS, BY_HAND, SWITCH, Action.STAY, "nothing proves"),
    (
        "asked, and the master just failed",
        SHAKY,
        BEHIND,
        BY_HAND,
        SWITCH,
        Action.WAIT,
        "6 transactions behind",
    ),
    (
        "asked, and the master is dead",
        DEAD,
        STANDBY,
        BY_HAND,
        SWITCH,
        Action.SWITCH,
        "operator ordered",
    ),
    (
        "another server at the address",
        STRANGER,
        None,
        BY_HAND,
        NONE,
        Action.STAY,
        "virtual_address is off",
    ),
    (
        "another server at the address, as declared",
        STRANGER,
        None,
        VIRTUAL,
        NONE,
        Action.SWITCH,
        "Another server",
    ),
    (
        "another server at the address, asked for",
        STRANGER,
        None,
        BY_HAND,
        HERE,
        Action.SWITCH,
        "Another server",
    ),
    (
        "another server at the address lags",
        STRANGER_BEHIND,
        None,
        VIRTUAL,
        NONE,
        Action.WAIT,
        "1 transaction behind",
    ),
]


def situation(
    master: ServerSeen,
    standby: ServerSeen | None,
    rules: SwitchRules,
    orders: FailoverOrders,
    *,
    streaming: bool = True,
) -> Situation:
    servers = (master,) if standby is None else (master, standby)
    published = Published(SourceIdentity(M, 1, 0), f"{M}:1-10")
    return Situation(ServerRole.MASTER, servers, published, f"{M}:1-7", orders, rules, streaming)


@pytest.mark.parametrize(
    ("master", "standby", "rules", "orders", "action", "reason"),
    [row[1:] for row in TABLE],
    ids=[row[0] for row in TABLE],
)
def test_the_table(
    master: ServerSeen,
    standby: ServerSeen | None,
    rules: SwitchRules,
    orders: FailoverOrders,
    action: Action,
    reason: str,
) -> None:
    decision = decide(situation(master, standby, rules, orders))
    assert (decision.action, reason in decision.reason) == (action, True), decision


def test_a_stop_has_a_name_and_says_what_to_accept() -> None:
    assert decide(situation(DEAD, PURGED, AUTOMATIC, NONE)) == Decision(
        Action.STOP,
        f"The standby no longer has the binlog of {M}:11-15, which was not published yet.",
        ServerRole.STANDBY,
        code="STANDBY_PURGED",
        gone=f"{M}:11-15",
    )
    assert decide(situation(DEAD, WITHOUT_GTIDS, AUTOMATIC, NONE)).code == "SWITCH_NEEDS_GTID"
    assert decide(situation(DEAD, BEHIND, AUTOMATIC, NONE)).lacking == f"{M}:5-10"


def test_thousands_are_readable() -> None:
    long = replace(
        situation(DEAD, BEHIND, AUTOMATIC, NONE),
        published=Published(SourceIdentity(M, 1, 0), f"{M}:1-1244"),
    )
    assert decide(long).reason == "standby is 1 240 transactions behind"


def test_a_last_heartbeats_worth_is_waited_for_and_not_gone_back_from() -> None:
    assert decide(situation(MASTER, NEARLY, BY_HAND, SWITCH, streaming=False)).action is Action.WAIT
    assert decide(situation(MASTER, BEHIND, BY_HAND, SWITCH, streaming=False)).action is Action.STAY


def test_a_half_published_transaction_must_be_there_too() -> None:
    half = replace(
        situation(DEAD, STANDBY, AUTOMATIC, NONE),
        published=Published(SourceIdentity(M, 1, 0), f"{M}:1-10", f"{M}:11"),
    )
    assert decide(half).reason == "standby is 1 transaction behind"


def test_mariadb_counts_by_domain() -> None:
    seen = replace(STANDBY, mariadb=True, server_uuid="", executed="0-1-6,1-1-3")
    behind = replace(
        situation(replace(DEAD, server_uuid=""), seen, AUTOMATIC, NONE),
        published=Published(SourceIdentity("", 1, 0), "0-1-10,1-1-3,2-1-2"),
    )
    assert decide(behind).reason == "standby is 6 transactions behind"
    assert decide(behind).lacking == "0-1-10,2-1-2"


def test_the_followed_server_is_the_one_of_the_position() -> None:
    published, never = Published(SourceIdentity(S, 2, 0), ""), replace(MASTER, seen_ms=0)
    assert followed_role(published, (MASTER, STANDBY), None) is ServerRole.STANDBY
    assert followed_role(published, (MASTER, STANDBY), ServerRole.MASTER) is ServerRole.STANDBY
    assert (
        followed_role(published, (MASTER, replace(STANDBY, seen_ms=0)), None) is ServerRole.STANDBY
    )
    assert (
        followed_role(published, (never, replace(STANDBY, server_uuid=OTHER)), None)
        is ServerRole.MASTER
    )
    assert (
        followed_role(published, (MASTER, replace(STANDBY, server_uuid=OTHER)), ServerRole.STANDBY)
        is ServerRole.STANDBY
    )
    assert followed_role(published, (MASTER,), ServerRole.STANDBY) is ServerRole.MASTER


numbers = st.integers(0, 12)
sets = st.builds(
    lambda m, s: ",".join([f"{M}:1-{m}"] * bool(m) + [f"{S}:1-{s}"] * bool(s)), numbers, numbers
)


@st.composite
def seen_servers(draw: st.DrawFn, role: ServerRole) -> ServerSeen:
    uuid = draw(st.sampled_from([M, OTHER])) if role is ServerRole.MASTER else S
    answers = draw(st.booleans())
    executed = draw(sets)
    purged = draw(sets.filter(lambda text: GtidSet.parse(executed).covers(GtidSet.parse(text))))
    return ServerSeen(
        role,
        role.value,
        answers,
        failures=0 if answers else draw(st.integers(0, 5)),
        seen_ms=draw(st.integers(0, 1)),
        server_uuid=uuid,
        gtids=draw(st.booleans()),
        executed=executed,
        purged=purged,
    )


situations = st.builds(
    Situation,
    followed=st.sampled_from(ServerRole),
    servers=st.tuples(seen_servers(ServerRole.MASTER), seen_servers(ServerRole.STANDBY)),
    published=st.builds(
        Published,
        st.builds(SourceIdentity, st.sampled_from([M, S]), st.just(1), st.just(0)),
        sets,
        st.sampled_from(["", f"{M}:13"]),
    ),
    published_before=sets,
    orders=st.builds(
        FailoverOrders,
        st.booleans(),
        st.sampled_from([None, *ServerRole]),
        st.sampled_from(["", f"{M}:3-12", f"{S}:1-4"]),
    ),
    rules=st.builds(SwitchRules, st.integers(1, 4), st.booleans(), st.booleans(), st.just(False)),
    streaming=st.booleans(),
)


def serves(each: Situation) -> bool:
    followed = each.server(each.followed)
    return followed is not None and followed.answers and followed.is_of(each.published.identity)


@given(situations)
def test_nothing_is_read_from_a_server_that_is_not_ready(each: Situation) -> None:
    decision = decide(each)
    if decision.action is not Action.SWITCH or decision.to is None:
        return
    seen, accepted = each.server(decision.to), GtidSet.parse(each.orders.accepted)
    assert seen is not None
    assert seen.answers
    assert seen.gtids
    published = GtidSet.parse(each.published.gtid_set)
    assert published.with_all(accepted).covers(GtidSet.parse(seen.purged))
    if not (
        each.streaming and serves(each)
    ):  # else what lies between two heartbeats is waited for before the first row
        assert (
            GtidSet.parse(seen.executed)
            .with_all(accepted)
            .covers(published.with_gtid(each.published.split_gtid))
        )


@given(situations)
def test_a_server_that_serves_is_left_on_request_alone(each: Situation) -> None:
    if serves(each) and each.orders.switch_to in (None, each.followed):
        assert decide(each).action is Action.STAY
    if serves(each) and each.streaming:
        assert decide(each).action in (Action.STAY, Action.SWITCH)


@given(situations)
def test_nothing_happens_by_itself_while_held_or_below_the_threshold(each: Situation) -> None:
    followed = each.server(each.followed)
    assert followed is not None
    quiet = (
        each.orders.hold
        or not each.rules.automatic
        or followed.failures < each.rules.retry_threshold
    )
    if quiet and not followed.answers and each.orders.switch_to in (None, each.followed):
        assert decide(each).action is Action.STAY
