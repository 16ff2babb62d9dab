"""Mapping sets beside the stream: a store whose sets are edited, lost and restored, one relay, and
the records in Kafka.

Two transactions of two rows are published; a commit may come after each row, so a transaction may
be half published. The documents of a set are one word, which also says where rows go: "A" and "B"
are the installation's, "x" is another's, HALF maps no database.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from tests.model.exploring import Found, explore

ROWS: Final = ((0, 0), (0, 1), (1, 0), (1, 1))
HALF: Final = "-"
NOTHING: Final = (0, "")
Name: TypeAlias = tuple[int, str]
"""A set's number and its documents, which stand for their digest."""
Step: TypeAlias = "tuple[str, World]"


class Rules(NamedTuple):
    """What the protocol relies on; a mutation takes one rule away."""

    sets_named_by_digest: bool = True
    """A store continues the recorded set only if the documents are the same, not only the
    number.
    """
    own_set_to_the_end: bool = True
    """A half-published transaction is ended under the set that its record names."""
    documents_kept: bool = True
    """The documents of named sets are in the position topic."""
    documents_in_transaction: bool = True
    """They become visible with the record that names them, not after it."""
    documents_kept_while_named: bool = True
    """They are deleted when neither record nor half-published transaction names them."""
    store_compared_after_split: bool = True
    """What follows a resumed transaction is published under the active set then."""
    first_start_waits: bool = True
    """Before the first row an instance waits until a database is mapped."""
    acceptance_bound: bool = True
    """An acceptance holds for the set that the operator was shown."""


class Budget(NamedTuple):
    """How often each event can still happen."""

    crashes: int = 0
    wipes: int = 0
    saves: int = 0
    acceptances: int = 0


class Record(NamedTuple):
    """The number of published rows.

    `named` is the set of the record, `split` that of a half-published transaction.
    """

    rows: int = 0
    named: Name = NOTHING
    split: Name | None = None


class Relay(NamedTuple):
    """The active set, the one that the store is compared with, the rows of the open batch, and
    whether the store has notified it.
    """

    active: Name
    named: Name
    taken: tuple[str, ...] = ()
    changed: bool = False


class World(NamedTuple):
    """The whole state.

    `own`: the store's sets continue those that were published. `meant` are documents that were
    activated.

    `late` are documents that are written after their record, `shown` is the set that an operator
    looked at before an acceptance.
    """

    sets: tuple[str, ...]
    meant: frozenset[str]
    budget: Budget
    own: bool = True
    record: Record = Record()
    kept: frozenset[str] = frozenset()
    late: frozenset[str] = frozenset()
    relay: Relay | None = None
    shown: Name | None = None
    visible: tuple[str, ...] = ()
    fault: str = ""

    @property
    def current(self) -> Name:
        return (len(self.sets), self.sets[-1]) if self.sets else NOTHING

    def spent(self, event: str) -> Budget:
        return self.budget._replace(**{event: getattr(self.budget, event) - 1})


def search(start: World, rules: Rules) -> Found:
    """Explore every order of events from `start`; end at the first broken invariant."""
    return explore(
        start, lambda world: steps(world, rules), broken, lambda world: len(world.visible)
    )


def broken(world: World) -> str:
    """Return the invariant that this state breaks, "" for none."""
    for first in range(0, len(world.visible), 2):
        if len(set(world.visible[first : first + 2])) > 1:
            return f"one transaction under two mappings: {world.visible}"
    if strange := set(world.visible) - world.meant:
        return f"rows under a mapping that nobody activated: {sorted(strange)}"
    return world.fault


def steps(world: World, rules: Rules) -> Iterator[Step]:
    """Return every possible next step."""
    yield from _operator(world, rules)
    if world.late:
        yield (
            "the documents follow their record",
            world._replace(kept=world.kept | world.late, late=frozenset()),
        )
    if world.relay is None:
        yield from _begin(world, rules)
        return
    if world.budget.crashes:
        yield (
            "the relay crashes",
            world._replace(relay=None, late=frozenset(), budget=world.spent("crashes")),
        )
    yield from _publish(world, world.relay, rules)


def _operator(world: World, rules: Rules) -> Iterator[Step]:
    if world.budget.wipes:
        own = not world.record.rows  # before the first row any mapping can be activated
        yield (
            "ZooKeeper loses everything",
            _signalled(world._replace(sets=(), own=own, shown=None, budget=world.spent("wipes"))),
        )
    if world.budget.saves:
        # Another installation's documents, or half of them, are put into a lost or empty store,
        # never over a mapping in use.
        strange = ("x", HALF) if not world.own else (HALF,) if not world.sets else ()
        for documents in ("A", "B", *strange):
            yield f"{documents} is saved", _saved(world, documents)
    if (
        world.shown is None
        and world.budget.acceptances
        and world.current[1] not in ("", HALF)
        and world.record.rows
        and not world.own
    ):
        yield f"an operator looks at {world.current}", world._replace(shown=world.current)
    if world.shown is not None:
        yield f"the acceptance of {world.shown} arrives", _accepted(world, world.shown, rules)


def _saved(world: World, documents: str) -> World:
    """Save documents: an edit if the store belongs to the installation. Saving the same documents
    restores a lost store.
    """
    published = (
        {world.record.named[1]}
        if world.relay is None
        else {world.record.named[1], world.relay.named[1]}
    )
    own = world.own or documents in published
    meant = world.meant | {documents} if own and documents in ("A", "B") else world.meant
    return _signalled(
        world._replace(
            sets=(*world.sets, documents), own=own, meant=meant, budget=world.spent("saves")
        )
    )


def _signalled(world: World) -> World:
    return (
        world if world.relay is None else world._replace(relay=world.relay._replace(changed=True))
    )


def _accepted(world: World, shown: Name, rules: Rules) -> World:
    """Write a record that names the store's set, after a fence; the relay restarts."""
    after = world._replace(shown=None, budget=world.spent("acceptances"))
    if rules.acceptance_bound and world.current != shown:
        return after
    record = world.record._replace(named=world.current)
    meant = world.meant | {shown[1]}
    return _with_documents(
        after._replace(relay=None, late=frozenset(), own=True, meant=meant), record, rules
    )


def _begin(world: World, rules: Rules) -> Iterator[Step]:
    """A session begins: with the set of a half-published transaction, or with the store's where it
    continues the recorded one.
    """
    record = world.record
    if record.split is not None and rules.own_set_to_the_end:
        number, documents = record.split
        in_store = world.sets[number - 1 : number] == (documents,)
        if not in_store and documents not in world.kept:
            yield (
                "the relay begins",
                world._replace(
                    fault=f"a transaction is half published under {record.split}, which is nowhere"
                ),
            )
            return
        relay = Relay(record.split, record.named, changed=rules.store_compared_after_split)
        yield f"the relay resumes under {record.split}", world._replace(relay=relay)
    elif _may_follow(world, record.named, rules):
        yield (
            f"the relay begins under {world.current}",
            world._replace(relay=Relay(world.current, world.current)),
        )


def _may_follow(world: World, named: Name, rules: Rules) -> bool:
    if named == NOTHING:
        return not rules.first_start_waits or world.current[1] not in ("", HALF)
    there = world.sets[named[0] - 1 : named[0]]
    if not rules.sets_named_by_digest:
        return bool(there)
    return world.current[1] == named[1] or there == (named[1],)


def _publish(world: World, relay: Relay, rules: Rules) -> Iterator[Step]:
    done = world.record.rows + len(relay.taken)
    if relay.taken:
        yield (
            f"rows up to {done} are committed under {relay.active}",
            _committed(world, relay, rules),
        )
    if done == len(ROWS):
        return
    between = done % 2 == 0
    if between and relay.changed:
        if _may_follow(world, relay.named, rules):
            followed = Relay(world.current, world.current, relay.taken)
            yield f"the relay follows the store to {world.current}", world._replace(relay=followed)
        else:
            ended = _committed(world, relay, rules) if relay.taken else world
            yield "the relay waits: the store lost its set", ended._replace(relay=None)
        return
    stale = between and world.own and relay.active[1] != world.current[1]
    fault = (
        f"a transaction begins under {relay.active}, and {world.current} is active" if stale else ""
    )
    taking = relay._replace(taken=(*relay.taken, relay.active[1]))
    yield (
        f"row {ROWS[done]} is taken under {relay.active}",
        world._replace(relay=taking, fault=fault),
    )


def _committed(world: World, relay: Relay, rules: Rules) -> World:
    rows = world.record.rows + len(relay.taken)
    split = relay.active if rows % 2 else None
    resumed = relay.active != relay.named
    record = Record(rows, relay.named if resumed else relay.active, split)
    after = world._replace(visible=world.visible + relay.taken, relay=relay._replace(taken=()))
    return _with_documents(after, record, rules)


def _with_documents(world: World, record: Record, rules: Rules) -> World:
    """Make the record visible; the topic has the documents that it names."""
    split = (
        {record.split[1]}
        if record.split is not None and rules.documents_kept_while_named
        else set()
    )
    named = frozenset({record.named[1]} | split) if rules.documents_kept else frozenset()
    late = frozenset() if rules.documents_in_transaction else named - world.kept
    return world._replace(record=record, kept=named - late, late=late)
