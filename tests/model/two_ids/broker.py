"""The broker's steps: a request arrives, an end reaches a partition, a transaction's time is
over.
"""

from collections.abc import Iterator
from typing import Final, TypeAlias

from tests.model.two_ids.world import POSITION, Coordinator, Entry, Request, World

Step: TypeAlias = tuple[str, World]
OK: Final = "ok"
FENCED: Final = "fenced"
NOT_YET: Final = ""


def arrivals(world: World) -> Iterator[tuple[Request, World, str]]:
    """Each request that may arrive now, what the broker becomes by it, and its answer."""
    for request in world.wire:
        after, answer = _answered(world, request)
        if answer:
            after = after._replace(wire=after.wire - {request})
        yield request, after, answer


def steps(world: World) -> Iterator[Step]:
    """What the broker does by itself."""
    for number, coordinator in enumerate(world.ids):
        for partition in coordinator.unmarked:
            yield (
                f"id {number}: {coordinator.ending} reaches {partition}",
                _marked(world, number, partition),
            )
        if world.timeouts and world.open(number) and not coordinator.ending:
            spent = world._replace(timeouts=world.timeouts - 1)
            newer = coordinator._replace(epoch=coordinator.epoch + 1)
            yield (
                f"id {number}: the broker's timeout ends the transaction",
                _ending(spent.with_id(number, newer), number, "abort"),
            )


def _answered(world: World, request: Request) -> tuple[World, str]:
    coordinator = world.ids[request.id]
    if request.kind == "init":
        return _init(world, request.id, coordinator)
    if request.epoch != coordinator.epoch:
        return world, FENCED
    if coordinator.ending:
        return world, NOT_YET
    if request.kind == "end":
        return _ending(world, request.id, "commit"), OK
    partition = POSITION if request.record is not None else request.change % 2
    entry = Entry(request.id, request.change, request.record)
    return world.with_log(partition, (*world.logs[partition], entry)), OK


def _init(world: World, number: int, coordinator: Coordinator) -> tuple[World, str]:
    if coordinator.ending:
        return world, NOT_YET
    newer = world.with_id(number, coordinator._replace(epoch=coordinator.epoch + 1))
    if world.open(number):
        return _ending(newer, number, "abort"), NOT_YET
    return newer, OK


def _ending(world: World, number: int, end: str) -> World:
    touched = tuple(
        partition
        for partition, log in enumerate(world.logs)
        if any(each.id == number and not each.committed for each in log)
    )
    if not touched:
        return world
    return world.with_id(number, world.ids[number]._replace(ending=end, unmarked=touched))


def _marked(world: World, number: int, partition: int) -> World:
    coordinator = world.ids[number]
    commits = coordinator.ending == "commit"
    log = tuple(
        each._replace(committed=True) if each.id == number else each
        for each in world.logs[partition]
        if commits or each.id != number or each.committed
    )
    unmarked = tuple(each for each in coordinator.unmarked if each != partition)
    ending = coordinator.ending if unmarked else ""
    marked = coordinator._replace(ending=ending, unmarked=unmarked)
    return world.with_log(partition, log).with_id(number, marked)
