"""One source transaction in parts, of which the source rolls rows back while it is read.

Two servers, relays that crash, and the record.

Meanwhile an operator saves another mapping set, and the first server purges the file of the
transaction.

The events of the transaction are rows and roll-backs to the savepoint before its first row but one.
BEGIN is published with the first row, and END, with the number of rows, with the last one. The
coordinate of an event is its number on the first server, and another number on the second one.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

EVENTS: Final = ("a", "b", "c", "undo b c", "d", "e", "end")
KEPT: Final = ("a", "d", "e")
_GONE: Final = frozenset({"b", "c"})
_ROWS: Final = frozenset("abcde")


class Rules(NamedTuple):
    """What the protocol relies on; a mutation takes one rule away."""

    end_read_first: bool = True
    """A part is published when the transaction was read to its end, and what was rolled back of it
    is left out.
    """
    unwritten_waits: bool = True
    """A transaction whose end is not in the binlog was not read to its end."""
    places_forgotten: bool = True
    """Left-out events are coordinates of the server that is read; for another server they are found
    again.
    """
    own_set: bool = True
    """The rest of a transaction is published under the mapping set of its first part, which the
    record names and the topic keeps.
    """
    purged_stops: bool = True
    """A relay that finds the file of its position purged stops by name.

    It does not continue in the next file.
    """
    begin_recorded: bool = True
    """The record of a part says that BEGIN is published; a relay that continues sends none."""
    count_recorded: bool = True
    """The record of a part has the number of its rows, and a relay that continues counts on."""
    purged_unread: bool = True
    """A transaction whose file is purged before it was read to its end was not read to its end."""
    kept_to_the_end: bool = True
    """Rows of an XA COMMIT are kept in their topic until its end is committed, not until its last
    row is.
    """


class Relay(NamedTuple):
    """One session: how many events it took, the rows among them that it published or skipped, and
    how many of the batch are open.
    """

    taken: int = 0
    rows: tuple[str, ...] = ()
    under: int = 0
    """The mapping set that the rows are published under."""
    begun: bool = False
    """Whether it knows that BEGIN is published."""
    counted: int = 0
    """How many rows of the transaction it counts before those that it publishes next."""


class World(NamedTuple):
    """The whole state.

    `left_out` are events by the coordinates of server `of`; `read`: the end was reached there.
    """

    written: int = 0
    done: int = 0
    visible: tuple[str, ...] = ()
    server: int = 0
    relay: Relay | None = None
    left_out: frozenset[int] = frozenset()
    read: bool = False
    crashes: int = 2
    switches: int = 1
    ended: bool = False
    saved: int = 0
    """The mapping set in the store."""
    sets: tuple[int, ...] = ()
    """The sets that the visible rows were published under."""
    purged: bool = False
    stopped: bool = False
    begins: int = 0
    """Visible BEGIN messages."""
    ends: tuple[int, ...] = ()
    """The numbers of rows in visible END messages."""
    kept: bool = True
    """Whether the topic has the rows, if the transaction is an XA COMMIT."""
    needless: bool = False
    """Whether a relay stopped because the rows that it reads again are gone."""


def steps(world: World, rules: Rules) -> Iterator[tuple[str, World]]:
    """Return every possible next step."""
    if world.written < len(EVENTS):
        yield (
            f"the source writes {EVENTS[world.written]!r}",
            world._replace(written=world.written + 1),
        )
    elif not world.purged:
        yield "the first server purges the file", world._replace(purged=True)
    if not world.saved:
        yield "an operator saves another mapping set", world._replace(saved=1)
    if world.ended:
        return
    if world.relay is None:
        yield from _begins(world, rules)
        return
    if world.crashes:
        forgot = world._replace(
            relay=None, left_out=frozenset(), read=False, crashes=world.crashes - 1
        )
        yield "the relay crashes, another one takes over", forgot
    if world.switches:
        yield "the other server is read", _switched(world, rules)
    yield from _work(world, world.relay, rules)


def _begins(world: World, rules: Rules) -> Iterator[tuple[str, World]]:
    if _gone_from_disk(world):
        if rules.purged_stops:
            yield "the purge is found, the instance stops by name", world._replace(stopped=True)
            if world.switches:  # what ends the stop: the other server has the file
                yield "the other server is read", _switched(world, rules)._replace(stopped=False)
        else:
            yield "a relay goes on in the next file", world._replace(ended=True)
        return
    if not world.kept:
        yield "the kept rows are gone, the instance stops", world._replace(needless=True)
        return
    relay = Relay(
        under=_set_of(world, rules),
        begun=bool(world.begins) and rules.begin_recorded,
        counted=world.done if rules.count_recorded else 0,
    )
    yield "a relay begins", world._replace(relay=relay)


def _switched(world: World, rules: Rules) -> World:
    after = world._replace(relay=None, server=1, switches=world.switches - 1)
    return after._replace(left_out=frozenset(), read=False) if rules.places_forgotten else after


def _set_of(world: World, rules: Rules) -> int:
    return world.sets[0] if world.sets and rules.own_set else world.saved


def _gone_from_disk(world: World) -> bool:
    return world.purged and world.server == 0


def _work(world: World, relay: Relay, rules: Rules) -> Iterator[tuple[str, World]]:
    if len(relay.rows) > world.done:
        yield from _part(world, relay, rules)
    if relay.taken == world.written:
        return
    event = EVENTS[relay.taken]
    taken = relay._replace(taken=relay.taken + 1)
    if event in _ROWS and _place(world.server, relay.taken) not in world.left_out:
        yield f"{event!r} is taken", world._replace(relay=taken._replace(rows=(*relay.rows, event)))
    elif event.startswith("undo") and _GONE & set(relay.rows):
        yield "rolled-back rows are met", world._replace(relay=None, left_out=_gone(world.server))
    elif event == "end":
        yield "the end is committed", _ended(_committed(world, taken))._replace(kept=False)
    else:
        yield f"{event!r} is passed", world._replace(relay=taken)


def _part(world: World, relay: Relay, rules: Rules) -> Iterator[tuple[str, World]]:
    if world.read or not rules.end_read_first:
        kept = rules.kept_to_the_end or relay.rows != KEPT
        part = _committed(world, relay)._replace(kept=kept)
        yield f"a part up to {relay.rows[-1]!r} is committed", part
        return
    if world.written < len(EVENTS) and rules.unwritten_waits:
        return
    if _gone_from_disk(world):
        if rules.purged_unread:
            yield (
                "the purge is met, the instance stops by name",
                world._replace(relay=None, stopped=True),
            )
        else:
            yield "nothing is found in a file that is gone", world._replace(read=True)
        return
    gone = _gone(world.server) if "undo b c" in EVENTS[: world.written] else frozenset()
    if gone <= world.left_out:
        yield "the transaction is read to its end", world._replace(read=True)
    else:
        yield (
            "rolled-back rows are found, and left out",
            world._replace(relay=None, left_out=gone, read=True),
        )


def _committed(world: World, relay: Relay) -> World:
    rows = relay.rows[world.done :]
    begins = bool(rows) and not relay.begun
    return world._replace(
        relay=relay._replace(begun=relay.begun or begins, counted=relay.counted + len(rows)),
        begins=world.begins + begins,
        visible=(*world.visible, *rows),
        done=len(relay.rows),
        sets=(*world.sets, *(relay.under for _ in rows)),
    )


def _ended(world: World) -> World:
    """Return the state with the END message of the transaction, of which rows are visible."""
    assert world.relay is not None
    return world._replace(ended=True, ends=(*world.ends, world.relay.counted))


def _place(server: int, event: int) -> int:
    return event + server


def _gone(server: int) -> frozenset[int]:
    return frozenset(_place(server, at) for at, event in enumerate(EVENTS) if event in _GONE)


def broken(world: World) -> str:
    """Return the invariant that this state breaks, "" for none."""
    if world.visible != KEPT[: len(world.visible)]:
        return f"consumers read {world.visible}, and the source kept {KEPT}"
    if len(set(world.sets)) > 1:
        return f"rows of one transaction were published under several mapping sets: {world.sets}"
    if world.begins != bool(world.visible):
        return f"rows of one transaction have {world.begins} BEGIN messages"
    if any(each != len(world.visible) for each in world.ends):
        return f"END says {world.ends} rows of {world.visible}"
    if world.needless:
        return "an instance stops although its source has everything"
    return (
        f"consumers read {world.visible} of {KEPT}" if world.ended and world.visible != KEPT else ""
    )
