from typing import Any

class EntryType:
    ROWDATA: int

class EventType:
    @staticmethod
    def Name(number: int) -> str: ...

class Entry:
    entryType: int
    header: Any
    storeValue: bytes

class RowChange:
    rowDatas: Any
    def MergeFromString(self, data: bytes) -> int: ...
