from relay.model.change import RawItem

class EventScanner:
    def scan(
        self,
        buffer: bytearray,
        start: int,
        end: int,
        offset: int,
        checksummed: bool,
        group: object,
        /,
    ) -> tuple[list[RawItem], int, int]: ...
