"""What an error of a copy ends: the request where it is the copy's own, else the session."""

from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from relay.errors import (
    AskedToStop,
    BrokerUnreachable,
    ClaimStoreUnreachable,
    Fenced,
    SnapshotRefused,
)
from relay.model.records.own_snapshots import (
    OwnSnapshot,
    noting_pauses,
    own_snapshots,
    unasked,
    why_own,
)
from relay.model.records.snapshot_progress import SnapshotProgress
from relay.model.table import TableId
from relay.pipeline.copying import table_copies
from relay.pipeline.copying.copy_waits import RETRY_SECONDS, retry_after_s
from relay.pipeline.copying.own_requests import due, end_sentence, sentence_of_keys
from relay.pipeline.copying.table_copies import TableCopies
from relay.pipeline.delivery.copy_view import CopyView
from relay.settings import InstanceSettings
from relay.state import SnapshotRequest, SnapshotState
from relay.threads import THREADS

SETTINGS = InstanceSettings.model_validate(
    {"name": "copying", "source": {"host": "h", "user": "u", "server_id": 7}}
)
REQUEST = SnapshotRequest("20260102-030405-ab12", "copying", ("shop.*",))
ROUTER: Any = None


class Run:
    """A run whose chunk is ready at once."""

    def __init__(self, *_: object) -> None:
        self.request = REQUEST
        self.progress = SnapshotProgress()
        self.window = None
        self.current = None
        self.view = CopyView(REQUEST.id, "shop.orders")
        self.again: list[str] = []
        self.pauses_s: list[float] = []
        self.refusals: dict[str, str] = {}
        self.own = False
        self.error: Exception | None = None

    def advance(self, *_: object) -> None:
        if self.error is not None:
            raise self.error

    def ready(self, _at: object) -> object:
        return None if self.progress.done else object()

    def waits(self, why: str) -> None:
        self.view = self.view.waiting(why)

    def read_again(self, why: str, *, after_s: float = 0.0) -> None:
        self.again.append(why)
        self.pauses_s.append(after_s)

    def leaves_out(self, reason: str) -> bool:
        if self.own:
            self.refusals["shop.orders"] = reason
        return self.own


class Store:
    """Keeps what is written."""

    def __init__(self) -> None:
        self.written: list[SnapshotRequest] = []
        self.created: list[SnapshotRequest] = []

    def watch(self, *_: object) -> Any:
        return SimpleNamespace(cancel=lambda: None)

    def all_of(self, _instance: str) -> list[SnapshotRequest]:
        return [] if self.written else [REQUEST, *self.created]

    def find(self, _instance: str, number: str) -> SnapshotRequest | None:
        return next((each for each in self.created if each.id == number), None)

    def create(self, request: SnapshotRequest) -> None:
        self.created.append(request)

    def write(self, request: SnapshotRequest) -> None:
        self.written.append(request)


class Publisher:
    """Fails where it is told to."""

    printing: Exception | None = None
    adding: Exception | None = None

    def printed(self, *_: object) -> object:
        if self.printing is not None:
            raise self.printing
        return object()

    def publish(self, *_: object) -> None:
        if self.adding is not None:
            raise self.adding


class Checkpoint:
    """Fails to commit where it is told to."""

    def __init__(self) -> None:
        self.progress = SimpleNamespace(
            record=SimpleNamespace(snapshots={}), leaves_nothing_out=True, at=None
        )
        self.committing: Exception | None = None

    def count_copied(
        self, _rows: int, _size_bytes: int, snapshots: dict[str, SnapshotProgress]
    ) -> None:
        self.progress.record.snapshots = snapshots

    def commit_open(self) -> None:
        if self.committing is not None:
            raise self.committing


class Copies:
    """A copy under way, and what surrounds it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.store, self.publisher, self.checkpoint = Store(), Publisher(), Checkpoint()
        self.run = Run()
        self.lag_s: float | None = None
        monkeypatch.setattr(table_copies, "CopyRun", lambda *_: self.run)
        store: Any = self.store
        checkpoint: Any = self.checkpoint
        publisher: Any = self.publisher
        stats: Any = SimpleNamespace(copying=None, record=None, lag_seconds=lambda _: self.lag_s)
        self.copies = TableCopies(SETTINGS, SETTINGS.source, store, checkpoint, publisher, stats)

    def step(self) -> None:
        self.copies.step(ROUTER)

    @property
    def ended(self) -> list[tuple[SnapshotState, str]]:
        return [(each.state, each.reason) for each in self.store.written]


@pytest.fixture
def copying(monkeypatch: pytest.MonkeyPatch) -> Copies:
    return Copies(monkeypatch)


@pytest.mark.parametrize("in_advance", [True, False])
def test_an_unexpected_error_ends_the_request_by_name_and_is_counted(
    copying: Copies, *, in_advance: bool
) -> None:
    counted = THREADS.unexpected["copy", "IndexError"]
    error = IndexError("tuple index out of range")
    if in_advance:
        copying.run.error = error
    else:
        copying.publisher.printing = error
    copying.step()
    [(state, reason)] = copying.ended
    assert state is SnapshotState.REFUSED
    assert "shop.orders failed: IndexError: tuple index out of range" in reason
    assert THREADS.unexpected["copy", "IndexError"] == counted + 1
    assert not copying.copies.busy


@pytest.mark.parametrize("error", [Fenced("x"), AskedToStop("x"), BrokerUnreachable("x")])
def test_an_error_of_a_commit_ends_the_session_and_not_the_request(
    copying: Copies, error: Exception
) -> None:
    copying.run.progress = SnapshotProgress(done=True)
    copying.checkpoint.committing = error
    with pytest.raises(type(error)):
        copying.step()
    assert copying.ended == []


@pytest.mark.parametrize("error", [ClaimStoreUnreachable("x"), Fenced("x"), TypeError("x")])
def test_an_error_while_a_chunk_is_added_ends_the_session(
    copying: Copies, error: Exception
) -> None:
    copying.publisher.adding = error
    with pytest.raises(type(error)):
        copying.step()
    assert (copying.ended, copying.run.again) == ([], [])


def test_a_stop_while_a_topic_is_made_ends_the_session_and_an_outage_reads_again(
    copying: Copies,
) -> None:
    copying.publisher.printing = AskedToStop("x")
    with pytest.raises(AskedToStop):
        copying.step()
    copying.publisher.printing = BrokerUnreachable("x")
    copying.step()
    assert copying.ended == []
    assert len(copying.run.again) == 1
    assert copying.run.pauses_s == [RETRY_SECONDS], "it does not read the source all the time"


def test_the_stream_gets_the_greater_part_of_the_time_while_something_does_not_answer() -> None:
    assert retry_after_s(0.01) == RETRY_SECONDS
    assert retry_after_s(5) == 50


def test_a_rename_is_recorded_for_each_request_also_for_those_that_are_paused(
    copying: Copies,
) -> None:
    record = copying.checkpoint.progress.record
    record.snapshots = {"paused": SnapshotProgress(tables=1).finishing("shop.a")}
    copying.copies.statement([TableId("shop", "a"), TableId("shop", "z")])
    assert record.snapshots["paused"].finished == ()


def test_a_copy_waits_while_live_rows_lag(copying: Copies) -> None:
    copying.lag_s = 11.0
    copying.step()
    assert "live rows lag 11 s" in copying.run.view.waits
    assert copying.checkpoint.progress.record.snapshots == {}


def test_the_relay_makes_the_documents_of_its_own_requests_unless_they_made_progress(
    copying: Copies,
) -> None:
    [number] = own_snapshots(OwnSnapshot.INITIAL, 0.0)
    begun = SnapshotProgress("shop.orders", rows=7)
    recorded = {
        number: SnapshotProgress(), "initial-0-a": begun, "20260102-030405-ffff": SnapshotProgress()
    }  # fmt: skip
    copying.checkpoint.progress.record.snapshots = recorded
    copying.run.error = BrokerUnreachable("x")
    copying.step()
    [made] = copying.store.created
    assert (made.id, made.tables, made.by) == (number, ("*.*",), "relay")
    assert copying.copies._lost == ("20260102-030405-ffff", "initial-0-a")  # noqa: SLF001


def test_a_pause_of_an_own_request_is_in_the_record_so_that_it_is_not_made_again() -> None:
    [number] = own_snapshots(OwnSnapshot.INITIAL, 0.0)
    begun = SnapshotProgress("shop.orders", rows=7)
    recorded = {number: SnapshotProgress(), "initial-0-a": begun, "1": SnapshotProgress()}
    assert noting_pauses(recorded, []) == recorded
    noted = noting_pauses(recorded, [number, "initial-0-a", "1"])
    assert noted == {**recorded, number: SnapshotProgress(paused=True)}
    assert (unasked(recorded), unasked(noted)) == ([number], [])


@pytest.mark.parametrize(
    ("setting", "first_start", "accepted_loss", "why"),
    [
        ("never", True, True, None),
        ("initial", True, False, OwnSnapshot.INITIAL),
        ("initial", False, True, None),
        ("when_needed", True, False, OwnSnapshot.INITIAL),
        ("when_needed", False, True, OwnSnapshot.NEEDED),
        ("when_needed", False, False, None),
    ],
)
def test_a_copy_is_due_at_the_first_start_and_after_an_accepted_loss(
    setting: str, *, first_start: bool, accepted_loss: bool, why: OwnSnapshot | None
) -> None:
    instance = SETTINGS.model_copy(update={"snapshot": setting})
    found = due(instance, first_start=first_start, accepted_loss=accepted_loss)
    assert [why_own(number) for number in found] == ([] if why is None else [why])


def test_only_a_copy_after_a_loss_names_the_deletes_that_it_cannot_publish() -> None:
    assert end_sentence("initial-1-a", 3, {}) == ""
    assert "deleted" in end_sentence("needed-1-a", 3, {})
    assert "No table" in end_sentence("needed-1-a", 0, {})


def test_tables_that_were_left_out_are_named_at_the_end() -> None:
    refusals = {f"shop.t{number:02}": "it has no key" for number in range(12)}
    told = end_sentence("initial-1-a", 0, refusals)
    assert told.startswith("Not copied, or only in part: shop.t00 (it has no key); shop.t01 (")
    assert told.endswith("shop.t09 (it has no key) and 2 more.")


@pytest.mark.parametrize("own", [True, False])
def test_a_table_that_cannot_be_printed_ends_an_operator_s_request_alone(
    copying: Copies, *, own: bool
) -> None:
    copying.run.own = own
    copying.publisher.printing = SnapshotRefused("shop.orders has no key.")
    copying.step()
    assert bool(copying.ended) is not own
    assert bool(copying.run.refusals) is own


@pytest.mark.parametrize(
    "settings",
    [
        {"transaction": {"delivery": "at_least_once"}},
        {"message": {"value_style": "canal"}},
        {"filter": {"operations": ["UPDATE"]}},
        {"source": {"host": "h", "user": "u", "server_id": 7, "gtid": False}},
    ],
)
def test_a_copy_that_would_be_refused_is_no_setting(settings: dict[str, Any]) -> None:
    fields = SETTINGS.model_dump(exclude_unset=True) | settings | {"snapshot": "initial"}
    with pytest.raises(ValidationError, match="snapshot = 'initial' cannot be carried out"):
        InstanceSettings.model_validate(fields)


def test_a_request_by_keys_says_for_how_many_it_published_rows_and_under_which_keys() -> None:
    request = SnapshotRequest("1", "copying", ("shop.orders",), keys=(("1",), ("2",)))
    assert "0 of 2 keys" in sentence_of_keys(request, SnapshotProgress())
    assert sentence_of_keys(request, SnapshotProgress(rows=2)) == ""
    assert sentence_of_keys(REQUEST, SnapshotProgress()) == ""
    other = SnapshotProgress(rows=2).with_other_keys(['["shop.orders","abc"]', "x" * 300])
    told = sentence_of_keys(request, other)
    assert 'the source stores: ["shop.orders","abc"], xxx' in told
    assert ("x…" in told, "perhaps" in told) == (True, False)
    many = other.with_other_keys([f"k{number}" for number in range(99)])
    assert len(many.other_keys) == 10
    assert "k7 and perhaps others." in sentence_of_keys(request, many)
