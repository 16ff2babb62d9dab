"""What an instance does after each error: a table with a row for every error class, and rules that
hold for all of them.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import relay.errors
from relay.errors import (
    BatchAborted,
    Fenced,
    LeadershipLost,
    MappingRefused,
    NamesUnknown,
    PositionNewer,
    PrinterFailed,
    ProducerContested,
    RelayError,
    RolledBackRows,
    SaveTooLarge,
    SchemaMismatch,
    ServerIdContested,
    SourceUnreachable,
    TableReturnsEarly,
)
from relay.failure_streak import Streak
from relay.pipeline.supervision.recovery.decision import (
    Circumstances,
    after_unexpected,
    depends_on_leadership,
    recovery,
)
from relay.pipeline.supervision.recovery.outcomes import (
    Backoff,
    End,
    Halt,
    HaltEnd,
    Recovery,
    Resign,
    RestartFrom,
    Retry,
    Wait,
)

RANGES = (("b.1", 4, 1, 2),)
SPECIAL: Final[dict[type[RelayError], RelayError]] = {
    MappingRefused: MappingRefused("x", data_id="d", pointer="/"),
    SaveTooLarge: SaveTooLarge("x", data_id="d", pointer="/"),
    NamesUnknown: NamesUnknown("x", table=("d", "t")),
    RolledBackRows: RolledBackRows("x", RANGES),
    PrinterFailed: PrinterFailed("x", {}),
    PositionNewer: PositionNewer(9, 1),
    TableReturnsEarly: TableReturnsEarly("shop", "a", 2, ("y",)),
}

# What a leader does after an error of its session. A new error class needs a row here
# (docs/howto/add-an-error.md).
NEXT_STEPS: Final = {
    "retry": """
        Unreachable SourceUnreachable SourceSilent StandbyBehind LookupUnreachable ClaimStoreUnreachable StoreUnreachable StoreLoginRefused
        RegistryUnreachable StoreTlsRefused PartitionsDiffer FormatsDiffer
    """,  # noqa: E501
    "retry, ended by a mapping": "MappingLost MappingMissing",
    "retry, spooling": "BrokerUnreachable",
    "retry, spooling, ended by the clock": "ClockAhead",
    "retry, after a contest's pause": "ServerIdContested",
    "restart": "BatchAborted TransactionUnread SwitchingSource GoesToSpool SpoolUnusable",
    "restart without ranges": "RolledBackRows",
    "restart with a table described again": "NamesUnknown",
    "resign": "LeadershipLost PositionNewer",
    "resign, more and more seldom": "ResourcesExhausted",
    "resign, after a contest's pause": "Fenced ProducerContested",
    "end": "AskedToStop",
    "halt, ended by servers": (
        "SwitchRefused StandbyPurged StandbyDiverged StandbyLacks PlaceAmbiguous SwitchNeedsGtid"
    ),
    "halt, ended by a mapping": "MappingRefused SaveTooLarge UnmappedName",
    "halt, ended by a login": "SourceLoginRefused",
    "halt": """
        RelayError ConfigurationError StoreRefused StoreNotPermitted PartitionRuleRefused ConditionRefused
        Stop SourceNotPermitted SourceSettingsRefused ServerIdTaken BinlogPurged HistoryChanged SourceLostTransactions
        CorruptEvent UnknownEvent UnsupportedEvent PreparedUnknown SavepointRolledBack SchemaMismatch RowImageIncomplete RuleRefused
        TransformFailed ValueNotPrintable PrinterFailed
        PositionLost PositionUnreadable PartitionsChanged FormatChanged TopicRefused TransactionsRefused KafkaNotPermitted MessageTooLarge
        ClaimStoreRefused DeliveryRefused SchemaRefused RegistryRefused NameNotInFormat
        HandedOver AccountRefused PlacementRefused MoveRefused TableReturnsEarly SourceNotNamed BackupRefused AuditUnreadable DeadLetterUnknown DeadLettersUnreadable
        ErasureInterrupted
        ErasureRefused
        NothingToPeek DeadLetterDamaged ValueHidden ReplayRefused SnapshotRefused VersionConflict NodeMissing
    """,  # noqa: E501
}
ROWS: Final = {name: outcome for outcome, names in NEXT_STEPS.items() for name in names.split()}


def tree(root: type[RelayError] = RelayError) -> Iterator[type[RelayError]]:
    """The classes of the project's tree of errors, from its root."""
    yield root
    for each in root.__subclasses__():
        if each.__module__.startswith("relay."):
            yield from tree(each)


ERRORS: Final = [SPECIAL.get(each) or each("x") for each in dict.fromkeys(tree())]
LEADER = Circumstances("shop", leads=True, timeout_seconds=15.0, now_s=100.0)
GROWN = Backoff(pause_s=0.8)


def outcome(decided: Recovery) -> str:
    """The decision in the words of the table."""
    match decided:
        case Retry():
            wait = {
                Wait.MAPPING: ", ended by a mapping",
                Wait.CLOCK: ", ended by the clock",
                Wait.CONTEST: ", after a contest's pause",
            }
            return "retry" + ", spooling" * decided.spools + wait.get(decided.wait, "")
        case RestartFrom():
            again = " with a table described again" if decided.refresh is not None else ""
            return "restart" + " without ranges" * (decided.left_out == RANGES) + again
        case Resign():
            contest = decided.backoff.fences.in_a_row > 0
            grown = decided.backoff.pause_s > GROWN.pause_s
            return (
                "resign" + ", after a contest's pause" * contest + ", more and more seldom" * grown
            )
        case Halt():
            ends = {
                HaltEnd.SERVERS: "servers",
                HaltEnd.MAPPING: "a mapping",
                HaltEnd.LOGIN: "a login",
            }
            return "halt" + (f", ended by {ends[decided.end]}" if decided.end in ends else "")
        case End():
            return "end"


def named(error: RelayError) -> str:
    return type(error).__name__


def test_every_class_of_the_tree_has_a_row_and_every_row_a_class() -> None:
    assert {named(each) for each in ERRORS} == ROWS.keys()
    assert {named(each) for each in ERRORS if type(each) is not RelayError} >= set(
        relay.errors.__all__
    ) - {"RelayError"}


@pytest.mark.parametrize("error", ERRORS, ids=named)
def test_a_leader_does_what_the_table_says(error: RelayError) -> None:
    decided = recovery(error, LEADER, GROWN)
    assert outcome(decided) == ROWS[named(error)]
    assert decided.error is error


@pytest.mark.parametrize("error", ERRORS, ids=named)
def test_a_relay_that_lost_the_leadership_resigns_and_shows_no_error_that_its_successor_may_cause(
    error: RelayError,
) -> None:
    decided = recovery(error, replace(LEADER, leads=False), GROWN)
    row = ROWS[named(error)]
    if row == "end":
        assert isinstance(decided, End)
        return
    assert isinstance(decided, Resign)
    of_a_session = row.startswith(("retry", "restart", "halt, ended by servers"))
    assert isinstance(decided.error, LeadershipLost) if of_a_session else decided.error is error
    assert decided.seconds == GROWN.pause_s
    assert decided.backoff.fences == Streak()


@pytest.mark.parametrize("error", ERRORS, ids=named)
def test_without_an_answer_of_zookeeper_only_a_fence_is_judged_as_without_the_leadership(
    error: RelayError,
) -> None:
    as_if = not isinstance(error, Fenced)
    assert recovery(error, replace(LEADER, leads=None), GROWN) == recovery(
        error, replace(LEADER, leads=as_if), GROWN
    )


@pytest.mark.parametrize("error", ERRORS, ids=named)
def test_outside_of_a_session_a_server_that_does_not_answer_ends_the_leadership(
    error: RelayError,
) -> None:
    decided = recovery(error, replace(LEADER, in_run=False), GROWN)
    row = ROWS[named(error)]
    expected = "resign" if row.startswith("retry") or isinstance(error, Fenced) else row
    assert outcome(decided) == expected
    assert decided.error is error


@pytest.mark.parametrize("in_run", [True, False])
@pytest.mark.parametrize("error", ERRORS, ids=named)
def test_zookeeper_is_asked_only_where_the_answer_counts(error: RelayError, in_run: bool) -> None:
    known = replace(LEADER, in_run=in_run)
    decided = [recovery(error, replace(known, leads=leads), GROWN) for leads in (True, False, None)]
    if not depends_on_leadership(error, in_run=in_run):
        assert decided[0] == decided[1] == decided[2]


def test_a_class_that_no_rule_names_is_a_halt() -> None:
    class Unheard(RelayError):
        code = "UNHEARD"

    assert outcome(recovery(Unheard("x"), LEADER, Backoff())) == "halt"


@pytest.mark.parametrize(
    ("open_s", "new_producer"), [(15.0, True), (14.0, True), (13.0, False), (0.0, False)]
)
@pytest.mark.parametrize("leads", [True, False, None])
def test_only_a_confirmed_leader_with_a_long_transaction_opens_a_new_producer(
    leads: bool | None, open_s: float, new_producer: bool
) -> None:
    decided = recovery(Fenced("x"), replace(LEADER, leads=leads, open_seconds=open_s), Backoff())
    if leads and new_producer:
        assert isinstance(decided, RestartFrom)
        assert str(decided.error) == str(
            BatchAborted(
                f"The broker's timeout ended a transaction that was open for {open_s:.1f} s."
            )
        )
    else:
        assert isinstance(decided, Resign)


def test_the_third_fence_in_a_row_is_a_contest_and_pauses_grow_to_a_minute() -> None:
    backoff, pauses, contested = Backoff(), [], []
    for now_s in range(12):
        decided = recovery(Fenced("x"), replace(LEADER, now_s=float(now_s)), backoff)
        assert isinstance(decided, Resign)
        backoff = decided.backoff.running()
        pauses.append(decided.seconds)
        contested.append(isinstance(decided.error, ProducerContested))
    assert pauses == [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 60.0, 60.0, 60.0]
    assert contested == [False, False] + 10 * [True]
    later = recovery(Fenced("x"), replace(LEADER, now_s=400.0), backoff)
    assert (outcome(later), type(later.error)) == ("resign, after a contest's pause", Fenced)


def test_a_contested_server_id_is_no_contested_producer() -> None:
    backoff = Backoff()
    for _ in range(5):
        backoff = recovery(ServerIdContested("x"), LEADER, backoff).backoff
    assert (backoff.server_id.in_a_row, backoff.fences.in_a_row, backoff.pause_s) == (
        5,
        0,
        Backoff().pause_s,
    )
    assert type(recovery(Fenced("x"), LEADER, backoff).error) is Fenced


def test_a_table_that_does_not_fit_after_it_was_described_again_is_a_halt() -> None:
    error: Any = SPECIAL[NamesUnknown]
    error.place = "b.1:100"
    decided = recovery(error, replace(LEADER, refreshed=True), Backoff())
    assert outcome(decided) == "halt"
    assert isinstance(decided.error, SchemaMismatch)
    assert "b.1:100" in decided.error.reason


def test_a_bug_resigns_with_its_own_pause_and_is_named() -> None:
    decided = after_unexpected(ValueError("unheard of"), 7.0, GROWN)
    assert (decided.seconds, decided.backoff, decided.error.code) == (7.0, GROWN, "RELAY_ERROR")
    assert "ValueError('unheard of')" in decided.error.reason


@given(
    st.lists(st.sampled_from(ERRORS)), st.lists(st.sampled_from([True, False, None]), min_size=1)
)
def test_pauses_stay_within_their_bounds_and_begin_anew_when_rows_flow(
    errors: list[RelayError], answers: list[bool | None]
) -> None:
    backoff = Backoff()
    for number, error in enumerate(errors):
        decided = recovery(
            error,
            replace(LEADER, leads=answers[number % len(answers)], now_s=float(number)),
            backoff,
        )
        if isinstance(decided, Retry | RestartFrom | Resign):
            assert 0.2 <= decided.seconds <= 60.0
        backoff = decided.backoff
        assert 0.2 <= backoff.pause_s <= 10.0
    assert backoff.running() == replace(backoff, pause_s=0.2)


@given(st.integers(1, 30))
def test_pauses_double_up_to_ten_seconds_and_to_one_where_kafka_is_away(failures: int) -> None:
    source, kafka = Backoff(), Backoff()
    for _ in range(failures):
        source = recovery(SourceUnreachable("x"), LEADER, source).backoff
        kafka = recovery(relay.errors.BrokerUnreachable("x"), LEADER, kafka).backoff
    assert source.pause_s == min(0.2 * 2**failures, 10.0)
    assert kafka.pause_s == min(0.2 * 2**failures, 1.0)
