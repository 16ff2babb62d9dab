"""Stores the documents of a mapping set in the position topic, so that the set can be read without
ZooKeeper. The functions are pure.

A set is stored under its digest while a position record names it, in as many records as its size
requires.
"""

import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

import orjson

from relay.model.names.mapping_name import digest_of
from relay.model.records.position_record import PositionRecord

Documents: TypeAlias = Mapping[str, str]
"""dataId → JSON text."""
KeptRecord: TypeAlias = tuple[str, bytes | None]
"""The last part of a record's key, `<digest>/<part>`, and the value. None deletes the key."""

_FORMAT: Final = 1
_LARGEST_PART_BYTES: Final = 500_000
"""Largest part of the documents in one record, in bytes. Base64 makes it a third larger, which is
two thirds of a topic's default size limit.

A set of four documents has at most 4 MB before compression.
"""


def keep_named(
    record: PositionRecord, contents: Mapping[str, Documents]
) -> tuple[PositionRecord, list[KeptRecord]]:
    """Return the position record with the list of sets that the topic stores, and the records to
    write with it.

    record    the position record
    contents  digest of a set → its documents, for the sets that may have to be written

    The stored documents of a set that the position record no longer names are deleted.
    """
    named = record.named_mappings
    if named == record.kept_mappings.keys():
        return record, []
    kept, changes = dict(record.kept_mappings), list[KeptRecord]()
    for digest in named - kept.keys():
        if digest in contents:
            parts = _parts(contents[digest])
            changes += [(f"{digest}/{number}", part) for number, part in enumerate(parts)]
            kept[digest] = len(parts)
    for digest in kept.keys() - named:
        changes += [(f"{digest}/{number}", None) for number in range(kept.pop(digest))]
    return replace(record, kept_mappings=kept), changes


def kept_documents(digest: str, parts: Mapping[str, bytes]) -> Documents | None:
    """Return the documents of the mapping set with this digest; None if the records do not contain
    the whole set.

    digest  digest of the set
    parts   last part of a record's key → value of the record
    """
    values = list(_values(digest, parts))
    try:
        whole = b"".join(b64decode(orjson.loads(value)["zlib"]) for value in values)
        documents: Documents = orjson.loads(zlib.decompress(whole))
        return documents if digest_of(documents) == digest else None
    except (zlib.error, ValueError, KeyError, AttributeError, TypeError):
        return None


def _values(digest: str, parts: Mapping[str, bytes]) -> Iterator[bytes]:
    number = 0
    while (value := parts.get(f"{digest}/{number}")) is not None:
        yield value
        number += 1


def _parts(documents: Documents) -> list[bytes]:
    """Return JSON records, each with a part of the compressed documents in base64."""
    whole = zlib.compress(orjson.dumps(dict(documents)))
    parts = [
        whole[at : at + _LARGEST_PART_BYTES] for at in range(0, len(whole), _LARGEST_PART_BYTES)
    ]
    return [orjson.dumps({"format": _FORMAT, "zlib": b64encode(part).decode()}) for part in parts]
