"""Changes of ZooKeeper's data in every state of an instance: the data is lost, older, newer or of
another installation. No row must be published to another topic or under another name.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, NamedTuple

from relay.state import Flow
from tests.support.waiting import wait_until
from tools.faults.scenario import scenario
from tools.faults.scenarios.topic import stopped_by_a_large_row, take_larger_rows
from tools.faults.stage import Run

_STATE_S: Final = 60.0
_GIANT_ROWS: Final = 100_000
_PART_ROWS: Final = 3_000
_FIRST_GIANT_KEY: Final = 100_000
_SETS_OF_ANOTHER: Final = 5


def documents(run: Run) -> dict[str, list[dict[str, str]]]:
    """Return the run's mapping documents, in the order in which they are saved one by one."""
    name = run.name
    return {
        "topics": [{"logicDb": name, "topic": name}],
        "dbs": [{"logicDb": name, "realDbs": name}],
        "tags": [{"logicTb": "t", "tag": "tag"}],
    }


# Changes of the store.


def lost(run: Run) -> None:
    """Delete everything below the installation's node."""
    run.installation.wipe()


def older(run: Run) -> None:
    """Replace the data by an older state, in which the databases are not mapped."""
    run.installation.wipe()
    run.installation.map(topics=documents(run)["topics"])


def newer(run: Run) -> None:
    """Save further edits of the mapping while the instance is in its state."""
    for tag in ("first", "second", "tag"):
        run.installation.map(tags=[{"logicTb": "t", "tag": tag}])


def foreign(run: Run) -> None:
    """Replace the data by the mapping sets of another installation, which has more sets."""
    run.installation.wipe()
    elsewhere = {
        **documents(run),
        "topics": [{"logicDb": run.name, "topic": f"{run.name}-foreign"}],
    }
    run.installation.map(**elsewhere)
    for number in range(_SETS_OF_ANOTHER):
        run.installation.map(tags=[{"logicTb": "t", "tag": f"tag-{number}"}])


# The state that the instance is in meanwhile. What comes before the `yield` brings it there, what
# follows lets it go on.


@contextmanager
def running(run: Run) -> Iterator[None]:
    """The instance publishes rows while the data changes."""
    run.rest(0, 1)
    yield


@contextmanager
def standby(run: Run) -> Iterator[None]:
    """The leader is killed after the data has changed, and the standby becomes leader."""
    leader = run.leader
    yield
    leader.kill()


@contextmanager
def waiting(run: Run) -> Iterator[None]:
    """The instance waits: the connection to its source is cut until the data has changed."""
    relay = run.leader
    run.line.shut()
    relay.wait_for("WAITING", "SOURCE_UNREACHABLE", _STATE_S)
    yield
    run.line.reopen()


@contextmanager
def paused(run: Run) -> Iterator[None]:
    """The instance is paused. The pause is a document in ZooKeeper: it is lost with the data, or it
    is withdrawn afterwards.
    """
    relay, flows = run.leader, run.installation.flows
    flows.write("shop", Flow(paused=True))
    relay.wait_for("PAUSED", seconds=_STATE_S)
    yield
    flow = flows.read("shop")
    if flow.paused:
        flows.write("shop", replace(flow, paused=False))


@contextmanager
def stopped(run: Run) -> Iterator[None]:
    """The instance is stopped by a row that is too large. The relay is started again after the data
    changed.
    """
    relay = run.leader
    stopped_by_a_large_row(run, relay)
    yield
    relay.stop()
    take_larger_rows(run)
    relay.start()


@contextmanager
def split(run: Run) -> Iterator[None]:
    """The relay is killed between the parts of a split transaction, and started after the data
    changed.
    """
    relay = run.leader
    seen = run.watcher.tally.seen
    first, last = _FIRST_GIANT_KEY, _FIRST_GIANT_KEY + _GIANT_ROWS - 1
    run.database.execute(
        f"insert into {run.name}.t select seq, 0, repeat('x', 200) from "
        f"{run.name}.seq_{first}_to_{last}"
    )
    wait_until(lambda: run.watcher.tally.seen > seen + _PART_ROWS, "a part published", _STATE_S)
    relay.kill()
    assert run.watcher.tally.seen < seen + _GIANT_ROWS, (
        "the crash came too late: nothing was left of the transaction"
    )
    yield
    relay.start()


# Combinations of both.


def restored(run: Run, backup: Any) -> None:
    """Restore the documents from a backup, or save them again one by one; the seed decides."""
    if run.chance.random() < 0.5:
        run.installation.put_documents(backup)
        run.notes.append("restored")
        return
    for word, document in documents(run).items():
        run.installation.map(**{word: document})
        run.rest(0.3)
    run.notes.append("saved one by one")


def _waits(run: Run) -> bool:
    status = run.installation.status()
    assert status is None or status.state != "RUNNING" or status.mapping_set <= 2, (
        f"it publishes under another set: {status}"
    )
    return status is not None and (status.state, status.code) == ("WAITING", "MAPPING_LOST")


def meeting(loss: Callable[[Run], None], state: Callable[[Run], Any]) -> Callable[[Run], None]:
    """Return a scenario in which the data changes by `loss` while the instance is in a state.

    Unless `loss` is `newer`, the instance must then wait with MAPPING_LOST, and must continue when
    the documents are restored.
    """

    def act(run: Run) -> None:
        run.installation.map(tags=documents(run)["tags"])
        wait_until(
            lambda: (found := run.installation.status()) is not None and found.mapping_set == 2,
            "the second set",
            _STATE_S,
        )
        run.moving()
        backup = run.installation.take_documents()
        with state(run):
            loss(run)
        if loss is not newer:
            try:
                wait_until(lambda: _waits(run), "MAPPING_LOST", _STATE_S)
            except AssertionError as exc:
                raise AssertionError(f"{exc}: {run.installation.status()}\n{run.logs()}") from exc
            run.rest(0, 2)
            restored(run, backup)
        run.moving()

    return act


class _State(NamedTuple):
    words: str
    reach: Callable[[Run], Any]
    instance: dict[str, Any]
    relays: int = 1
    group: bool = False


_IN_PARTS: Final[dict[str, Any]] = {
    "transaction": {"split_bytes": 500_000},
    "flow": {"rows_per_second": 20_000},
}
_LOSSES: Final = {"lost": lost, "older": older, "newer": newer, "foreign": foreign}
_WORDS: Final = {
    "lost": "is lost",
    "older": "is older than the position",
    "newer": "is newer than what the relay read",
    "foreign": "is replaced by another installation's",
}
_STATES: Final = {
    "running": _State("while the instance runs", running, {}),
    "standby": _State(
        "while a standby relay runs, which then becomes leader", standby, {}, relays=2
    ),
    "waiting": _State("while the instance waits for its source", waiting, {}),
    "paused": _State("while the instance is paused", paused, {}),
    "stopped": _State("while the instance is stopped", stopped, {}),
    "split": _State("while a transaction is half-published", split, _IN_PARTS),
    "group": _State("while the instance reads a group", running, {}, group=True),
    "group-split": _State(
        "while a transaction of a group is half-published", split, _IN_PARTS, group=True
    ),
}

for _word, _loss in _LOSSES.items():
    for _name, _state in _STATES.items():
        scenario(
            f"store-{_word}-{_name}",
            f"ZooKeeper's data {_WORDS[_word]} {_state.words}",
            relays=_state.relays,
            beside=_state.group,
            pair=_state.group,  # the other source of a group is the server of single ones
            **_state.instance,
        )(meeting(_loss, _state.reach))
