"""Decides which relay should lead each instance, without input or output: all relays that read the
same view compute the same result.
"""

from bisect import insort
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Member:
    """A running relay.

    name       name of the process
    server     name of its server, which stays the same after a restart
    instances  the instances in its configuration
    unready    instances that it cannot run now
    """

    name: str
    server: str
    instances: frozenset[str]
    unready: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ClusterView:
    """The state of an installation at one time.

    leaders      instance → relay that leads it
    preferred    instance → preferred servers, the best first
    moves        instance → relay or server to which an operator moved it
    maintenance  servers that must be drained
    """

    members: tuple[Member, ...] = ()
    leaders: Mapping[str, str] = field(default_factory=dict)
    preferred: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    moves: Mapping[str, str] = field(default_factory=dict)
    maintenance: frozenset[str] = frozenset()


class Why(StrEnum):
    """The reason why an instance is assigned to a relay."""

    STAYS = "it runs there"
    FREE = "no relay runs it"
    MOVED = "an operator moved it"
    DRAINED = "its server is in maintenance"
    PREFERRED = "its settings prefer that server"
    BALANCE = "instances are spread evenly"


@dataclass(frozen=True, slots=True)
class Assignment:
    """The relay that leads an instance (None: there is no leader), and the relay that should lead
    it.
    """

    leader: str | None
    wanted: str
    why: Why

    @property
    def urgent(self) -> bool:
        """Return whether an operator ordered the assignment, so that it takes effect
        immediately.
        """
        return self.why in (Why.MOVED, Why.DRAINED)


def assign(view: ClusterView) -> dict[str, Assignment]:
    """Return an assignment for every instance that at least one member is configured with.

    Candidates are the members that can run the instance and are not in maintenance. Without such
    members, the candidates are those that can run it and are in maintenance (a drain never stops a
    stream). If no member can run the instance, the same order applies to those that cannot run it
    now. The leader counts as a member that can run it.
    If an operator's move or a preferred server names some candidates, only those remain: one relay,
    or all relays of a server. If the leader is a candidate, it keeps the instance.
    Each remaining instance goes to the candidate with the fewest instances. Then instances move one
    by one while that balances the numbers. Applying the function to its own result moves nothing.
    """
    ranks = _Ranks(view)
    candidates = {instance: ranks.best(instance) for instance in sorted(_instances(view))}
    named = {
        each: found
        for each, able in candidates.items()
        if (found := _named(view, each, able.members)) is not None
    }
    allowed = {
        each: ranks.group(named[each][0]) if each in named else candidates[each]
        for each in candidates
    }
    wanted = {
        each: leader
        for each, able in allowed.items()
        if (leader := view.leaders.get(each)) is not None and leader in able.held
    }
    loads = Counter(wanted.values())
    for each in sorted(allowed, key=lambda each: (each not in named, each)):
        if each not in wanted:
            wanted[each] = _least_loaded(allowed[each].members, loads)
            loads[wanted[each]] += 1
    _level(wanted, allowed, loads)
    servers = {member.name: member.server for member in view.members}
    return {
        each: _assignment(view, servers, each, wanted[each], named.get(each)) for each in candidates
    }


def _instances(view: ClusterView) -> set[str]:
    return {instance for member in view.members for instance in member.instances}


@dataclass(frozen=True, slots=True)
class _Alike:
    """Members, sorted by name; `held` has the instances of each that only these may lead, sorted.

    All instances with the same candidates share one: a thousand over fifty relays have few.
    """

    members: list[Member]
    held: dict[str, list[str]]


class _Ranks:
    """The candidates of each instance. Instances whose relays are the same are ranked once."""

    def __init__(self, view: ClusterView) -> None:
        self._view = view
        self._unready = {each for member in view.members for each in member.unready}
        self._configured: dict[frozenset[str], list[Member]] = {}
        for member in view.members:
            self._configured.setdefault(member.instances, []).append(member)
        self._ranked: dict[tuple[int, ...], _Alike] = {}
        self._groups: dict[tuple[str, ...], _Alike] = {}

    def best(self, instance: str) -> _Alike:
        """Return the members of the best rank.

        The leader counts as able: an error that stops the instance there would also stop it
        elsewhere.
        """
        if instance in self._unready:
            return self._of_best_rank(instance)
        there = tuple(number for number, names in enumerate(self._configured) if instance in names)
        if there not in self._ranked:
            self._ranked[there] = self._of_best_rank(instance)
        return self._ranked[there]

    def group(self, members: list[Member]) -> _Alike:
        """Return the one group of these members."""
        ordered = sorted(members, key=lambda member: member.name)
        names = tuple(member.name for member in ordered)
        return self._groups.setdefault(names, _Alike(ordered, {name: [] for name in names}))

    def _of_best_rank(self, instance: str) -> _Alike:
        ranked = [
            (_rank(self._view, instance, member), member)
            for names, members in self._configured.items()
            if instance in names
            for member in members
        ]
        best = min(rank for rank, _ in ranked)
        return self.group([member for rank, member in ranked if rank == best])


def _rank(view: ClusterView, instance: str, member: Member) -> int:
    unable = instance in member.unready and view.leaders.get(instance) != member.name
    return 2 * unable + (member.server in view.maintenance)


def _named(
    view: ClusterView, instance: str, members: list[Member]
) -> tuple[list[Member], Why] | None:
    """Return the candidates that an operator or the settings name, with the reason; None if no
    candidate has that name.
    """
    named = [(view.moves.get(instance, ""), Why.MOVED)] if instance in view.moves else []
    named += [(server, Why.PREFERRED) for server in view.preferred.get(instance, ())]
    for name, why in named:
        there = [member for member in members if name in (member.name, member.server)]
        if there:
            return there, why
    return None


def _least_loaded(members: list[Member], loads: Counter[str]) -> str:
    return min(members, key=lambda member: (loads[member.name], member.name)).name


def _level(wanted: dict[str, str], allowed: dict[str, _Alike], loads: Counter[str]) -> None:
    """Move instances one by one while that balances the numbers of two relays.

    Each step lowers the sum of squares, so the loop ends. Among instances with the same candidates,
    the least loaded candidate is the best.
    """
    for each in sorted(allowed):
        allowed[each].held[wanted[each]].append(each)
    alike = list({id(group): group for group in allowed.values()}.values())
    while (step := _step(loads, alike)) is not None:
        group, instance, name = step
        former = wanted[instance]
        group.held[former].remove(instance)
        insort(group.held[name], instance)
        loads[former] -= 1
        loads[name] += 1
        wanted[instance] = name


def _step(loads: Counter[str], alike: Iterable[_Alike]) -> tuple[_Alike, str, str] | None:
    """Return the best move, None if no move improves the balance. Among equal moves, the first by
    name.
    """
    best, best_move = (-2, "", ""), None
    for group in alike:
        name = _least_loaded(group.members, loads)
        for holder, instances in group.held.items():
            if instances:
                move = (loads[name] - loads[holder], instances[0], name)
                if move[0] <= -2 and (best_move is None or move < best):
                    best, best_move = move, (group, *move[1:])
    return best_move


def _assignment(
    view: ClusterView,
    servers: Mapping[str, str],
    instance: str,
    name: str,
    named: tuple[list[Member], Why] | None,
) -> Assignment:
    leader = view.leaders.get(instance)
    if leader == name:
        return Assignment(leader, name, Why.STAYS)
    if leader is None:
        return Assignment(None, name, Why.FREE)
    leads_there = named is None or any(member.name == leader for member in named[0])
    why = Why.BALANCE if named is None or leads_there else named[1]
    drained = servers.get(leader) in view.maintenance and why is not Why.MOVED
    return Assignment(leader, name, Why.DRAINED if drained else why)
