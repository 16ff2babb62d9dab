from confluent_kafka import Producer

def load(path: str) -> None: ...

class BlockSender:
    def __init__(self, producer: Producer) -> None: ...
    @property
    def refusal(self) -> tuple[int, str, int] | None: ...
    def forget_refusal(self) -> None: ...
    def send(
        self,
        topic: str,
        block: bytes,
        start: int,
        most: int,
        names: tuple[str, str],
        tail: tuple[tuple[str, bytes], ...],
    ) -> tuple[int, int]: ...
