from collections.abc import Container
from typing import Generic, TypeVar

EventT = TypeVar("EventT", bound=tuple[object, ...])

class EventScanner(Generic[EventT]):
    def __init__(self, special: Container[int], event: type[EventT]) -> None: ...
    def scan(
        self, buffer: bytearray | memoryview, start: int, end: int, offset: int, checksummed: bool
    ) -> tuple[list[EventT], int, int]: ...
