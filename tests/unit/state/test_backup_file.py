"""One node of a backup: readable, and every byte comes back."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.errors import BackupRefused
from relay.state import Backup
from relay.state.backup_file import from_file, to_file
from relay.state.mappings.records import Note, SetRecord, StoredDocument

_GOLDEN = Path(__file__).parents[2] / "golden" / "backup.1"
NODES = {
    "mappings/documents/com.pajk.Roma.topics/0000000001": StoredDocument(
        "com.pajk.Roma.topics",
        1,
        '[\n  {"logicDb": "a", "topic": "t"}\n]',
        Note("Ä", "first", 1_700_000_000_000),
    ).to_document(),
    "mappings/sets/0000000001": SetRecord(
        1, {"com.pajk.Roma.topics": 1}, Note("Ä", "first", 1_700_000_000_000)
    ).to_document(),
    "mappings/pointer": b'{"format":1,"set":1}',
    "instances/shop/started": b'{"file":"b.000001","offset":4}',
}


@given(
    st.binary()
    | st.text().map(str.encode)
    | st.dictionaries(st.text(), st.integers()).map(json.dumps).map(str.encode)
)
def test_every_byte_comes_back(value: bytes) -> None:
    assert from_file(to_file("a/b", value), "file") == ("a/b", value)


def test_the_first_format_is_read() -> None:
    assert Backup.read(_GOLDEN) == Backup("roma", 1_700_000_000_000, NODES)


def test_documents_can_be_read_by_people() -> None:
    assert '  "json": {\n    "format": 1,\n    "set": 1\n  }' in to_file(
        "mappings/pointer", NODES["mappings/pointer"]
    )
    lines = json.loads(to_file("x", NODES["mappings/documents/com.pajk.Roma.topics/0000000001"]))[
        "lines"
    ]
    assert lines[1:] == ["[", '  {"logicDb": "a", "topic": "t"}', "]"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": 2, "path": "a", "json": {}}',
        '{"format": 1, "path": "../a", "json": {}}',
        '{"format": 1, "path": "a", "base64": "!"}',
    ],
)
def test_what_is_no_file_of_this_or_an_older_format_is_refused(text: str) -> None:
    with pytest.raises(BackupRefused):
        from_file(text, "file")


def test_half_a_backup_is_none(tmp_path: Path) -> None:
    backup = Backup("roma", 1, NODES)
    backup.write(tmp_path / "whole")
    assert Backup.read(tmp_path / "whole") == backup
    with pytest.raises(BackupRefused, match="not empty"):
        backup.write(tmp_path / "whole")
    (tmp_path / "whole" / "mappings" / "pointer.json").unlink()
    with pytest.raises(BackupRefused, match="contains 3 documents, but its manifest lists 4"):
        Backup.read(tmp_path / "whole")
    (tmp_path / "whole" / "backup.json").unlink()
    with pytest.raises(BackupRefused, match="cannot be read"):
        Backup.read(tmp_path / "whole")
