"""A table that is copied in chunks beside its live stream: one source, one relay that crashes.

A source writes a transaction to the binlog, then shows it to SELECTs, then adds it to
gtid_executed. Transactions of different rows may be shown in another order than they were written.
The relay publishes transactions in the order of the binlog, and a chunk of rows between two.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

Row: TypeAlias = tuple[str, int | None]
"""A key and its value; None is a deleted row."""

CHUNKS: Final = ("a", "bc")
"""The keys that each chunk reads, in the order of the key."""
RETYPED_CHUNKS: Final = ("bc", "a")
"""The same after an ALTER that changes the order of the key."""
TABLE: Final[Mapping[str, int | None]] = {"a": 0, "b": 0, "c": None}
"""The table before the first transaction."""
POSITIONS: Final = 3
"""The execute position that one transaction takes from its binlog offset, times its number."""


class Transaction(NamedTuple):
    """The effect of one source transaction on the table."""

    rows: tuple[Row, ...] = ()
    """The rows that it writes, which become visible with it."""
    prepared: tuple[Row, ...] = ()
    """The rows that an XA PREPARE logs; their COMMIT is a later transaction."""
    truncates: bool = False
    commits_xa: bool = False
    """Whether its rows were logged by an earlier PREPARE."""
    left_out: tuple[Row, ...] = ()
    """Further rows that become visible with it; a filter leaves them out, so they have no message.
    """
    moves: tuple[Row, ...] = ()
    """Rows under the key that they get from a partial image: no message has all of their columns.
    """
    renames: tuple[Row, ...] | None = None
    """The rows of another table, which takes the name with a RENAME."""
    retypes: bool = False
    """Whether an ALTER changes type or collation of the key, and so the order of chunks."""
    positions: int = 0
    """Execute positions that it takes; 0: one for each row."""

    @property
    def changes(self) -> tuple[Row, ...]:
        """The rows that it changes in the table."""
        return (*self.rows, *self.left_out, *self.moves)

    @property
    def keys(self) -> frozenset[str]:
        """The keys that it locks on the source."""
        whole = self.truncates or self.retypes or self.renames is not None
        keys = TABLE if whole else (key for key, _ in (*self.changes, *self.prepared))
        return frozenset(keys)

    @property
    def empties(self) -> bool:
        """Whether it voids what is known of the keys of the table."""
        return self.truncates or self.renames is not None


HISTORIES: Final[Mapping[str, tuple[Transaction, ...]]] = {
    "an update, a changed key, a delete": (
        Transaction((("a", 1),)),
        Transaction((("a", None), ("c", 2))),
        Transaction((("b", None),)),
    ),
    "XA": (
        Transaction(prepared=(("a", 1), ("b", 1))),
        Transaction((("a", 1), ("b", 1)), commits_xa=True),
    ),
    "TRUNCATE": (
        Transaction((("b", 1),)),
        Transaction(truncates=True),
        Transaction((("a", 2),)),
    ),
    "changes that a filter leaves out": (
        Transaction(left_out=(("a", 1),)),
        Transaction((("b", 1),), left_out=(("a", 2),)),
    ),
    "a row that moves without a message": (
        Transaction((("a", None),)),
        Transaction((("b", None),), moves=(("a", 9),)),
    ),
    "RENAME": (
        Transaction((("b", 1),)),
        Transaction(renames=(("a", 5), ("c", 6))),
        Transaction((("a", 7),)),
    ),
    "ALTER of the key": (
        Transaction((("b", 1),)),
        Transaction(retypes=True),
    ),
    "more changes than bytes": (
        Transaction((("a", 1),), positions=POSITIONS),
        Transaction((("a", 2), ("b", 1))),
        Transaction((("b", 2),)),
    ),
}


class Rules(NamedTuple):
    """What the protocol relies on; a mutation takes one rule away."""

    low_is_shown: bool = True
    """A chunk is read once gtid_executed holds everything that was taken before its window."""
    window_opens_first: bool = True
    """Changed keys are noted from before the SELECT on, not from its answer on."""
    high_is_read_after: bool = True
    """The high watermark is read after the SELECT."""
    high_is_the_binlog: bool = True
    """The high watermark is the end of the binlog: gtid_executed lacks what is just shown."""
    waits_for_high: bool = True
    """The rows are published once everything up to the high watermark was taken."""
    changed_rows_are_dropped: bool = True
    """A row whose key changed in the window is dropped."""
    both_keys_are_noted: bool = True
    """A changed key counts as a change of the old and of the new key."""
    noted_when_published: bool = True
    """The keys of an XA transaction are noted at its COMMIT, not at its PREPARE."""
    statements_void: bool = True
    """A TRUNCATE in the window voids the chunk; it is read again."""
    rename_begins_again: bool = True
    """A RENAME that gives the name to another table forgets which chunks of it are done."""
    key_types_begin_again: bool = True
    """So does an ALTER of the key: the last key is elsewhere in the new order."""
    progress_in_the_transaction: bool = True
    """The progress is written in the Kafka transaction of the chunk's rows, not before it."""
    progress_is_kept: bool = True
    """The record keeps the progress of chunks, so a restart copies no chunk again."""
    left_out_is_no_change: bool = True
    """A row is not dropped for a change that a filter leaves out: no message of it follows."""
    left_out_voids: bool = True
    """Such a change voids the chunk: the row that was read may be older than it."""
    moves_begin_again: bool = True
    """A row that moves without a message may be in a chunk that is done: its table begins again."""
    rows_share_a_key: bool = True
    """All rows of a chunk take the order key after the last change, and leave it to no other."""
    key_is_free: bool = True
    """A chunk waits while the next transaction would take that order key."""


class Window(NamedTuple):
    """One chunk under way, in the memory of the relay alone."""

    low: int
    """Transactions that were taken when it opened."""
    early_high: int
    """The end of the binlog at that moment."""
    rows: tuple[Row, ...] | None = None
    """What the SELECT returned; None before it."""
    high: int = 0
    changed: frozenset[str] = frozenset()


class Relay(NamedTuple):
    """One session: transactions taken, chunks done, and messages of the open Kafka transaction."""

    taken: int
    done: int
    batch: tuple[Row, ...] = ()
    copied: str = ""
    """Keys of rows of chunks in the open Kafka transaction."""
    window: Window | None = None
    order: int = 0
    """The execute position of the last change."""
    keys: tuple[tuple[str, int], ...] = ()
    """Kind and execute position of what was put into Kafka transactions, in order."""
    at: tuple[int, ...] = ()
    """How many transactions were taken when each chunk was published."""
    began_again: bool = False
    """Whether the open Kafka transaction forgets the chunks of before."""


class World(NamedTuple):
    """The whole state."""

    history: tuple[Transaction, ...]
    written: int = 0
    shown: frozenset[int] = frozenset()
    executed: frozenset[int] = frozenset()
    published: int = 0
    """The transactions of the position record."""
    done: int = 0
    """The chunks of the position record."""
    last: tuple[Row, ...] = ()
    """The last committed message of each key, sorted by key."""
    copied: str = ""
    """Keys of all committed rows of chunks."""
    at: tuple[int, ...] = ()
    """How many transactions were published before each chunk."""
    order: int = 0
    """The execute position of the position record."""
    keys: tuple[tuple[str, int], ...] = ()
    """Kind and execute position of all committed messages."""
    relay: Relay | None = None
    crashes: int = 1


def steps(world: World, rules: Rules) -> Iterator[tuple[str, World]]:
    """Return every possible next step."""
    yield from _source(world)
    relay = world.relay
    if relay is None:
        done = world.done if rules.progress_is_kept else 0
        begun = Relay(world.published, done, order=world.order, at=world.at[:done])
        yield "a relay begins", world._replace(relay=begun)
        return
    if world.crashes:
        yield "the relay crashes", world._replace(relay=None, crashes=world.crashes - 1)
    if relay.taken < world.written:
        yield f"transaction {relay.taken} is taken", _taken(world, relay, rules)
    if relay.taken > world.published or relay.done > world.done or relay.batch:
        yield "the Kafka transaction is committed", _committed(world, relay)
    yield from _chunk(world, relay, rules)


def _source(world: World) -> Iterator[tuple[str, World]]:
    number = world.written
    if number < len(world.history) and _unlocked(world, number):
        yield f"transaction {number} is logged", world._replace(written=number + 1)
    for each in range(number):
        if each not in world.shown:
            yield f"transaction {each} is shown", world._replace(shown=world.shown | {each})
        elif each not in world.executed:
            executed = world.executed | {each}
            yield f"transaction {each} is in gtid_executed", world._replace(executed=executed)


def _unlocked(world: World, number: int) -> bool:
    """Whether the transactions before it have released their rows."""
    keys = world.history[number].keys
    return all(each in world.shown or not keys & world.history[each].keys for each in range(number))


def _taken(world: World, relay: Relay, rules: Rules) -> World:
    transaction, window = world.history[relay.taken], relay.window
    rows = tuple((key, None) for key in TABLE) if transaction.empties else transaction.rows
    if (transaction.empties or transaction.retypes) and rules.statements_void:
        window = None
    if window is not None and (rules.window_opens_first or window.rows is not None):
        window = window._replace(changed=window.changed | _noted(transaction, rules))
    if transaction.left_out and rules.left_out_is_no_change and rules.left_out_voids:
        window = None
    if transaction.moves and rules.moves_begin_again:
        window = None
    order = after(relay.order, world.history, relay.taken)
    taken = relay._replace(
        taken=relay.taken + 1,
        batch=(*relay.batch, *rows),
        window=window,
        order=order,
        keys=(*relay.keys, ("change", order)),
    )
    if (
        (transaction.renames is not None and rules.rename_begins_again)
        or (transaction.retypes and rules.key_types_begin_again)
        or (transaction.moves and rules.moves_begin_again)
    ):
        taken = taken._replace(done=0, at=(), copied="", began_again=True)
    return world._replace(relay=taken)


def after(order: int, history: tuple[Transaction, ...], number: int) -> int:
    """The execute position of the last change of a transaction, from that of the one before."""
    transaction = history[number]
    taken = transaction.positions or max(1, len(transaction.changes))
    return max(order, natural(number) - 1) + taken


def natural(number: int) -> int:
    """Return the execute position of a transaction's first change, from its binlog offset."""
    return POSITIONS * number + 2


def _noted(transaction: Transaction, rules: Rules) -> frozenset[str]:
    rows = transaction.rows
    if not rules.noted_when_published:
        rows = () if transaction.commits_xa else (*rows, *transaction.prepared)
    rows = rows if rules.both_keys_are_noted else rows[-1:]
    if not rules.left_out_is_no_change:
        rows = (*rows, *transaction.left_out)
    return frozenset(key for key, _ in rows)


def _chunk(world: World, relay: Relay, rules: Rules) -> Iterator[tuple[str, World]]:
    window = relay.window
    if relay.done == len(CHUNKS):
        return
    if window is None:
        opened = Window(relay.taken, world.written)
        done = world.done if rules.progress_in_the_transaction else relay.done + 1
        yield (
            f"the window of chunk {relay.done} opens",
            world._replace(relay=relay._replace(window=opened), done=done),
        )
    elif window.rows is None:
        if not rules.low_is_shown or world.executed >= set(range(window.low)):
            rows = tuple(
                (key, value)
                for key, value in _table(world.history, world.shown).items()
                if key in chunks(world.history, world.shown)[relay.done] and value is not None
            )
            read = window._replace(rows=rows, high=-1)
            yield f"chunk {relay.done} is read", _with(world, relay, read)
    elif window.high < 0:
        high = window._replace(high=_high(world, window, rules))
        yield "the high watermark is read", _with(world, relay, high)
    elif (relay.taken >= window.high or not rules.waits_for_high) and (
        not rules.key_is_free or relay.order + 1 < natural(relay.taken)
    ):
        yield f"the rows of chunk {relay.done} go out", _published(world, relay, window, rules)


def _with(world: World, relay: Relay, window: Window) -> World:
    return world._replace(relay=relay._replace(window=window))


def _high(world: World, window: Window, rules: Rules) -> int:
    if not rules.high_is_read_after:
        return window.early_high
    return world.written if rules.high_is_the_binlog else max(world.executed, default=-1) + 1


def _published(world: World, relay: Relay, window: Window, rules: Rules) -> World:
    dropped = window.changed if rules.changed_rows_are_dropped else frozenset[str]()
    rows = [row for row in window.rows or () if row[0] not in dropped]
    keys = tuple(
        ("copy", relay.order + (1 if rules.rows_share_a_key else 1 + at)) for at in range(len(rows))
    )
    published = relay._replace(
        done=relay.done + 1,
        batch=(*relay.batch, *rows),
        copied=relay.copied + "".join(key for key, _ in rows),
        window=None,
        order=relay.order if rules.rows_share_a_key or not keys else keys[-1][1],
        keys=(*relay.keys, *keys),
        at=(*relay.at[: relay.done], relay.taken),
    )
    return world._replace(relay=published)


def _committed(world: World, relay: Relay) -> World:
    last = dict(world.last)
    last.update(relay.batch)
    begun = relay.began_again
    return world._replace(
        published=relay.taken,
        done=relay.done if begun else max(world.done, relay.done),
        last=tuple(sorted(last.items())),
        copied=relay.copied if begun else world.copied + relay.copied,
        at=relay.at if begun or relay.done >= world.done else world.at,
        order=relay.order,
        keys=world.keys + relay.keys,
        relay=relay._replace(batch=(), copied="", keys=(), began_again=False),
    )


def _table(history: tuple[Transaction, ...], numbers: Iterable[int]) -> dict[str, int | None]:
    """Return the table after these transactions."""
    table = dict(TABLE)
    for number in sorted(numbers):
        if history[number].empties:
            table = {**dict.fromkeys(table), **dict(history[number].renames or ())}
        table.update(history[number].changes)
    return table


def chunks(history: tuple[Transaction, ...], numbers: Iterable[int]) -> tuple[str, ...]:
    """Return the keys of each chunk after these transactions."""
    return RETYPED_CHUNKS if any(history[each].retypes for each in numbers) else CHUNKS


def broken(world: World) -> str:
    """Return the invariant that this state breaks, "" for none.

    For each key of a copied chunk, the last message is the row when the chunk was published, or the
    last change after it that has a message. When the copy is done, a row that moved meanwhile has a
    message. Order keys are those of a replay without chunks, and
    rise after a copied row.
    """
    last, read = dict(world.last), ""
    for number in range(world.done):
        at = world.at[number] if number < len(world.at) else world.published
        truth = _table(world.history, range(at))
        for each in range(at, world.published):
            later = world.history[each]
            if later.empties:
                truth = {**dict.fromkeys(TABLE), **dict(later.renames or ())}
            truth.update(later.rows)
        read += chunks(world.history, range(at))[number]
        for key in chunks(world.history, range(at))[number]:
            if last.get(key) != truth[key]:
                return f"the last message of {key} is {last.get(key)}, and the row is {truth[key]}"
    if world.done == len(CHUNKS) and set(read) != set(TABLE):
        return f"the copy is done, and read the keys {read} alone"
    if world.done == len(CHUNKS) and (lost := _lost(world, last)):
        return f"the copy is done, and the row {lost} has no message"
    twice = sorted(key for key in set(world.copied) if world.copied.count(key) > 1)
    return f"chunks brought {twice} twice" if twice else _misplaced(world)


def _lost(world: World, last: Mapping[str, int | None]) -> str:
    """Return the key of a row that moved during the copy and has no message, "" for none."""
    truth = _table(world.history, range(world.published))
    for number in range(world.published):
        for key, value in world.history[number].moves:
            if value is not None and last.get(key) != truth[key] and number >= min(world.at):
                return key
    return ""


def _misplaced(world: World) -> str:
    """Return the order key that differs from that of a replay, or does not rise."""
    order, number, before = 0, 0, 0
    for kind, key in world.keys:
        if kind == "change":
            order, number = after(order, world.history, number), number + 1
            if key != order:
                return f"transaction {number - 1} has the order key {key}, and {order} in a replay"
            if first_of(key, world.history[number - 1]) <= before:
                return f"transaction {number - 1} begins at the order key of a copied row"
        before = key
    return ""


def first_of(last: int, transaction: Transaction) -> int:
    """The execute position of the first change of a transaction with this last one."""
    return last - (transaction.positions or max(1, len(transaction.changes))) + 1
