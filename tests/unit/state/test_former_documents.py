"""Documents in ZooKeeper of every former version are read, and a mapping of a newer one is refused
by name.
"""

from pathlib import Path

import pytest

from relay.errors import MappingRefused
from relay.state import Backup, SetRecord, StartNote, StoredDocument
from relay.state.mappings.records import FORMAT, Note, Pointer

_TOPICS = "com.pajk.Roma.topics"
_NODES = Backup.read(Path(__file__).parents[2] / "golden" / "backup.1").nodes
_DOCUMENT, _SET = (
    _NODES[f"mappings/documents/{_TOPICS}/0000000001"],
    _NODES["mappings/sets/0000000001"],
)
_NOTE = Note("Ä", "first", 1_700_000_000_000)


def test_documents_of_the_first_format_are_read() -> None:
    found = StoredDocument.from_document(_TOPICS, 1, _DOCUMENT)
    assert (found.body, found.note) == ('[\n  {"logicDb": "a", "topic": "t"}\n]', _NOTE)
    assert SetRecord.from_document(1, _SET) == SetRecord(1, {_TOPICS: 1}, _NOTE)
    assert Pointer.from_document(_NODES["mappings/pointer"], 0).number == 1
    note = StartNote.from_document(_NODES["instances/shop/started"])
    assert (note.file, note.offset) == ("b.000001", 4)


def test_a_golden_document_stands_for_every_format() -> None:
    assert FORMAT == 1, "keep documents of the former format in tests/golden, and read them above"


def test_a_mapping_of_a_newer_format_is_refused_by_name() -> None:
    newer = b'"format":%d' % (FORMAT + 1)
    with pytest.raises(MappingRefused, match="written by a newer relay"):
        StoredDocument.from_document(_TOPICS, 1, _DOCUMENT.replace(b'"format":1', newer))
    with pytest.raises(MappingRefused, match="written by a newer relay"):
        SetRecord.from_document(1, _SET.replace(b'"format":1', newer))
