"""Computes the data of the overview: state filters, and the requested instances in groups."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple
from urllib.parse import quote, urlencode

from api.services.watch import Facts, Grouping, Moment, Selection, Sort, grouped, selected
from api.services.watch.facts import held_back_by
from api.services.watch.selection import rank
from api.web import words
from api.web.views.figures.sparkline import spark_path
from api.web.views.relay_names import RelayName, RelayNames

COLUMNS: Final[Sequence[tuple[str, Sort | None, str]]] = (
    ("Instance", "name", ""),
    ("State", "state", ""),
    ("Leader", "relay", "hide-sm"),
    ("Source", None, "hide-sm hide-md"),
    ("Lag", "lag", "num"),
    ("Rows/s, last hour", "rate", "num"),
    ("Last change", "change", "num hide-sm"),
)
"""Title, sort key (None: not sortable) and CSS class of each column."""
MOST_UNFOLDED: Final = 1000
"""Of more instances, the page has one line for each group, and the rows of opened groups."""
_MS: Final = 1000


@dataclass(frozen=True, slots=True)
class Row:
    """One instance in the list, with its values as text.

    path      the page of the instance
    code      the code of its error, "" without one
    note      a short text about its state
    lag_kind  a CSS class for the lag
    spark     the path of its small chart (SVG); `flat`: all its values are zero or unknown
    change    when the state began
    """

    name: str
    path: str
    state: str
    code: str
    note: str
    relay: RelayName
    source: str
    lag: str
    lag_kind: str
    rate: str
    spark: str
    flat: bool
    change: str


class Group(NamedTuple):
    """Instances below one title. The title is empty if the list is not grouped.

    rows         its instances; empty if the group is folded and not opened
    size         number of its instances
    worst        the most urgent state in it
    worst_count  number of its instances in that state
    folded       whether it is shown as one line that can be opened
    address      the page with the group open
    """

    title: str
    rows: list[Row]
    size: int
    worst: str
    worst_count: int
    folded: bool = False
    address: str = ""

    @property
    def opened(self) -> bool:
        """Whether its rows are shown."""
        return bool(self.rows)


class Chip(NamedTuple):
    """A filter of the list by state; an empty state shows all instances."""

    state: str
    title: str
    instances: int
    address: str
    current: bool


class Column(NamedTuple):
    """The head of a column: its title, its CSS class (`kind`), and the address that sorts by it.
    `order` is the value of `aria-sort`; empty if the list is sorted otherwise.
    """

    title: str
    kind: str
    address: str
    order: str


@dataclass(frozen=True, slots=True)
class Asked:
    """The query parameters of the overview. `opened` has the titles of the opened groups."""

    selection: Selection
    group: Grouping = ""
    opened: frozenset[str] = frozenset()

    def address(self, **other: str) -> str:
        """Return the query string of the overview with other values and closed groups. Default
        values are omitted.
        """
        asked = self.selection
        values = {
            "filter": asked.filter,
            "state": asked.state,
            "group": self.group,
            "sort": ("-" if asked.down else "") + asked.sort,
            **other,
        }
        shown = {
            name: value for name, value in values.items() if value and (name, value) != _DEFAULT
        }
        return f"?{urlencode(shown)}" if shown else "?"

    def opening(self, title: str) -> str:
        """Return the query string of this page with the group `title` opened too."""
        opened = [("open", each) for each in sorted({*self.opened, title})]
        closed = self.address(group=self.group)
        return f"{closed}{'' if closed == '?' else '&'}{urlencode(opened)}"


_DEFAULT: Final = ("sort", "state")


def sentence(moment: Moment) -> str:
    """Return a text with the number of instances by state, their rate, and the greatest lag."""
    facts = moment.facts.values()
    if not facts:
        return "No instance yet."
    states = Counter(each.period.state for each in facts)
    parts = ", ".join(
        f"{count} {state.lower().replace('_', ' ')}"
        for state, count in sorted(states.items(), key=lambda each: (-each[1], each[0]))
    )
    rates = [each.rate for each in facts if each.rate is not None]
    now = f" {words.number(sum(rates))} rows/s now." if rates else ""
    return f"{words.counted(len(facts), 'instance')}: {parts}.{now}{_greatest_lag(moment)}"


def chips(moment: Moment, asked: Asked) -> list[Chip]:
    """Return a filter for all instances and for every state that occurs, the most urgent first."""
    states = Counter(each.period.state for each in moment.facts.values())
    current = asked.selection.state
    found = [Chip("", "All", len(moment.facts), asked.address(state=""), not current)]
    for state in sorted(states, key=lambda each: (rank(each), each)):
        title = state.replace("_", " ").capitalize()
        address = asked.address(state=state)
        found.append(Chip(state, title, states[state], address, state == current))
    return found


def columns(asked: Asked) -> list[Column]:
    """Return the heads of the columns. The link of the current sort column reverses the order."""
    return [_column(title, sort, kind, asked) for title, sort, kind in COLUMNS]


def groups(
    moment: Moment, sparks: Mapping[str, Sequence[float | None]], asked: Asked, lag_limit_s: float
) -> list[Group]:
    """Return the instances that match the filters, in groups. Of more than MOST_UNFOLDED
    instances, groups are folded: only opened ones have rows.

    sparks       instance → values of its small chart
    lag_limit_s  lag in seconds above which an operator is needed
    """
    servers = {each.name: each.server for each in moment.relays}
    found = selected(moment.facts.values(), moment.addresses, asked.selection, servers)
    asked = replace(asked, group=grouping(asked.group, len(found)))
    names = RelayNames.of(moment.relays)
    is_folded = len(found) > MOST_UNFOLDED

    def group(key: str, facts: list[Facts], worst: str, worst_count: int) -> Group:
        title = key.replace("_", " ").capitalize() if asked.group == "state" else key
        shown = facts if not is_folded or title in asked.opened else []
        rows = [_row(each, moment, names, sparks, lag_limit_s) for each in shown]
        address = asked.opening(title) if is_folded else ""
        return Group(title, rows, len(facts), worst, worst_count, is_folded, address)

    return [group(*each) for each in grouped(found, asked.group, servers)]


def grouping(chosen: Grouping, shown: int) -> Grouping:
    """Return the grouping for a list of `shown` instances. It is `chosen`, but a long list always
    has groups.
    """
    return chosen or ("state" if shown > MOST_UNFOLDED else "")


def _column(title: str, sort: Sort | None, kind: str, asked: Asked) -> Column:
    if sort is None:
        return Column(title, kind, "", "")
    if sort != asked.selection.sort:
        return Column(title, kind, asked.address(sort=sort), "")
    down = asked.selection.down
    address = asked.address(sort=sort if down else f"-{sort}")
    return Column(title, kind, address, "descending" if down else "ascending")


def _row(
    facts: Facts,
    moment: Moment,
    names: RelayNames,
    sparks: Mapping[str, Sequence[float | None]],
    limit_s: float,
) -> Row:
    view, values = facts.view, sparks.get(facts.view.name, ())
    changed_ms = view.execute_time
    ago_s = None if not changed_ms else max(0, moment.read_ms - changed_ms) / _MS
    led = view.relay_alive
    return Row(
        name=view.name,
        path=f"/instances/{quote(view.name, safe='')}",
        state=facts.period.state,
        code=view.code,
        note=held_back_by(view) if led else "no relay leads it",
        relay=names(view.relay if led else ""),
        source=f"{len(view.sources)} sources" if view.sources else _source(facts, moment),
        lag=words.duration(view.lag_seconds if led else None),
        lag_kind=_lag_kind(facts, limit_s),
        rate=words.number(facts.rate),
        spark=spark_path(values),
        flat=not any(values),
        change="" if ago_s is None else f"{words.duration(ago_s)} ago",
    )


def _source(facts: Facts, moment: Moment) -> str:
    return moment.addresses.get(facts.view.name, "")


def _lag_kind(facts: Facts, limit_s: float) -> str:
    lag = facts.view.lag_seconds
    if lag is None or lag <= limit_s or facts.period.state == "PAUSED":
        return ""
    return "lag-hi" if facts.period.state == "RUNNING" else "lag-bad"


def _greatest_lag(moment: Moment) -> str:
    running = [
        (each.view.lag_seconds, each.view.name)
        for each in moment.facts.values()
        if each.period.state == "RUNNING" and each.view.lag_seconds is not None
    ]
    if not running:
        return ""
    lag, name = max(running)
    return f" The greatest lag of a running instance is {words.duration(lag)} ({name})."
