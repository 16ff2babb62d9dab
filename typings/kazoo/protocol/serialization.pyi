from struct import Struct
from typing import ClassVar, NamedTuple

int_struct: Struct
stat_struct: Struct

def read_buffer(bytes: bytes, offset: int) -> tuple[bytes | None, int]: ...

class GetData:
    type: ClassVar[int]
    def __init__(self, path: str, watcher: object) -> None: ...
    def serialize(self) -> bytearray: ...

class MultiHeader(NamedTuple):
    type: int
    done: bool
    err: int
    def serialize(self) -> bytearray: ...
    @classmethod
    def deserialize(cls, bytes: bytes, offset: int) -> tuple[MultiHeader, int]: ...
