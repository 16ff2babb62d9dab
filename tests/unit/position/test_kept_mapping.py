"""Documents of mapping sets in the position topic: written while a record names them, deleted
afterwards, and whole or not at all.
"""

import random
from base64 import b64encode
from dataclasses import replace
from pathlib import Path

from relay.model.names.mapping_name import digest_of
from relay.model.positions.position import BinlogPosition
from relay.model.records.position_record import PositionRecord, SplitProgress
from relay.position.kept_mapping import KeptRecord, keep_named, kept_documents

RECORD = PositionRecord.from_bytes(
    (
        Path(__file__).parents[2] / "golden" / "position_records" / "position_record.1.json"
    ).read_bytes()
)
SMALL, OTHER = {"dbs": '[{"logicDb":"a","realDbs":"b"}]'}, {"dbs": "[]", "topics": "[1]"}
_NOISE = random.Random(7)
LARGE = {name: f'["{b64encode(_NOISE.randbytes(750_000)).decode()}"]' for name in "abcd"}
"""Documents of a million characters that can hardly be compressed."""


def naming(documents: dict[str, str], record: PositionRecord = RECORD) -> PositionRecord:
    return replace(record, mapping_set=1, mapping_digest=digest_of(documents))


def contents(*sets: dict[str, str]) -> dict[str, dict[str, str]]:
    return {digest_of(each): each for each in sets}


def topic(*batches: list[KeptRecord]) -> dict[str, bytes]:
    """What the compacted topic holds after these batches."""
    held = {key: value for batch in batches for key, value in batch}
    return {key: value for key, value in held.items() if value is not None}


def test_a_record_that_names_no_set_keeps_none() -> None:
    assert keep_named(RECORD, contents(SMALL)) == (RECORD, [])


def test_a_named_set_is_written_once_and_read_back() -> None:
    record, written = keep_named(naming(SMALL), contents(SMALL, OTHER))
    assert kept_documents(digest_of(SMALL), topic(written)) == SMALL
    assert keep_named(record, {}) == (record, []), "the next commit writes nothing more"


def test_a_set_that_no_record_names_any_more_is_deleted_with_the_commit_that_names_another() -> (
    None
):
    record, written = keep_named(naming(SMALL), contents(SMALL))
    after, changed = keep_named(naming(OTHER, record), contents(OTHER))
    held = topic(written, changed)
    assert kept_documents(digest_of(OTHER), held) == OTHER
    assert kept_documents(digest_of(SMALL), held) is None
    assert {key.partition("/")[0] for key in held} == set(after.kept_mappings) == {digest_of(OTHER)}


def test_the_set_of_a_half_published_transaction_is_kept_beside_the_confirmed_one() -> None:
    split = SplitProgress(BinlogPosition("b.1", 4), "", 3, 0, 1, "", digest_of(SMALL))
    record, written = keep_named(naming(SMALL, replace(RECORD, split=split)), contents(SMALL))
    both, confirmed = keep_named(naming(OTHER, record), contents(OTHER))
    held = topic(written, confirmed)
    assert kept_documents(digest_of(SMALL), held) == SMALL
    assert kept_documents(digest_of(OTHER), held) == OTHER
    _, ended = keep_named(replace(both, split=None), {})
    assert kept_documents(digest_of(SMALL), topic(written, confirmed, ended)) is None


def test_a_set_of_four_megabytes_takes_several_records_and_leaves_none_behind() -> None:
    record, written = keep_named(naming(LARGE), contents(LARGE))
    assert len(written) > 1
    assert max(len(value or b"") for _, value in written) <= 700_000
    assert kept_documents(digest_of(LARGE), topic(written)) == LARGE
    _, deleted = keep_named(naming(SMALL, record), contents(SMALL))
    assert {key.partition("/")[0] for key in topic(written, deleted)} == {digest_of(SMALL)}


def test_what_is_not_whole_or_not_the_set_is_not_given_out() -> None:
    _, written = keep_named(naming(LARGE), contents(LARGE))
    for lost in range(len(written)):
        assert kept_documents(digest_of(LARGE), topic(written[:lost] + written[lost + 1 :])) is None
    _, small = keep_named(naming(SMALL), contents(SMALL))
    forged = {
        key.replace(digest_of(SMALL), digest_of(OTHER)): value
        for key, value in topic(small).items()
    }
    assert kept_documents(digest_of(OTHER), forged) is None
    for damaged in (
        b"\x00",
        b"{}",
        b'{"zlib":"AA=="}',
        b'{"zlib":"A"}',
        b'{"zlib":1}',
        b"[]",
        b"7",
    ):
        assert kept_documents(digest_of(SMALL), {f"{digest_of(SMALL)}/0": damaged}) is None


def test_documents_that_are_nowhere_are_named_without_being_kept() -> None:
    record, written = keep_named(naming(SMALL), {})
    assert (written, record.kept_mappings) == ([], {})
