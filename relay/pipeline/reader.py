"""The reading thread: source → decode → buffer."""

import threading

from relay.decode import RowDecoder
from relay.model.change import RawRows
from relay.pipeline.buffer import ChangeBuffer
from relay.source import SourceStream


class Reader:
    """Fills the buffer from an open source until either is closed; what ends it is raised by the buffer's `get`."""

    def __init__(self, name: str, stream: SourceStream, buffer: ChangeBuffer) -> None:
        self._stream = stream
        self._buffer = buffer
        self._decoder = RowDecoder()
        self._thread = threading.Thread(target=self._run, name=f"read-{name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Close the source and the buffer, and wait for the thread."""
        self._stream.close()
        self._buffer.close()
        self._thread.join()

    def _run(self) -> None:
        decode, put = self._decoder.open, self._buffer.put
        try:
            for raw in self._stream.items(before_waiting=self._buffer.hand_over):
                if not (put(decode(raw), len(raw.body)) if isinstance(raw, RawRows) else put(raw, 0)):
                    return
        except BaseException as exc:  # noqa: BLE001 - handed to the publishing thread, which raises it
            self._buffer.fail(exc)
