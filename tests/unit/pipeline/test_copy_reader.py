"""The thread that reads chunks ends without a wait of the publishing thread."""

from threading import Event

from relay.pipeline.copying.copy_reader import CopyReader
from relay.settings import SourceSettings
from relay.source import ChunkConnection


def test_a_reader_is_stopped_while_it_reads_and_joined_later() -> None:
    reader, reads, may_end = (
        CopyReader("shop", SourceSettings(host="db", user="u")),
        Event(),
        Event(),
    )

    def question(_: ChunkConnection) -> None:
        reads.set()
        may_end.wait()

    reader.ask(question)
    assert reads.wait(60)
    reader.stop()
    assert not reader.ended  # so `stop` did not wait
    may_end.set()
    reader.join()
    assert reader.ended
