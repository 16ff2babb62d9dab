"""The identity of a mapping set: its number, and a digest of its documents.

The number alone does not identify a set, because a ZooKeeper that lost its data begins again with
1.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Final, NamedTuple

_DIGEST_CHARACTERS: Final = 32


class MappingName(NamedTuple):
    """The number of a mapping set and the digest of its documents.

    Number 0 means that no set was ever saved. `digest` is "" for number 0, and in records of older
    relays.
    """

    number: int = 0
    digest: str = ""

    def __str__(self) -> str:
        return f"{self.number} ({self.digest[:8]})" if self.digest else str(self.number)


class RecordedSets(NamedTuple):
    """The mapping sets that the position records of an installation name.

    highest  the highest number of a set under which rows were published, 0 for none
    names    the sets that the newest records name
    """

    highest: int = 0
    names: frozenset[MappingName] = frozenset()


def digest_of(documents: Mapping[str, str]) -> str:
    """Return a digest of the documents' contents: dataId → JSON text.

    White space between JSON tokens does not change the digest, and a missing document counts as an
    empty one (`[]`).
    """
    said = {data_id: _canonical(body) for data_id, body in documents.items()}
    lines = "\n".join(f"{data_id} {body}" for data_id, body in sorted(said.items()) if body != "[]")
    return sha256(lines.encode()).hexdigest()[:_DIGEST_CHARACTERS]


def _canonical(body: str) -> str:
    """Return a document as ASCII without white space between its tokens. An invalid document is
    returned as one quoted JSON string.
    """
    try:
        return json.dumps(json.loads(body), separators=(",", ":"))
    except (ValueError, RecursionError):
        return json.dumps({"no JSON": body})


def same_store(named: MappingName, active: MappingName, recorded: MappingName | None) -> bool:
    """Return whether a store continues the mapping sets under which rows were published.

    False for a store that was wiped, or that belongs to another installation.

    named     the set that the position record names; number 0 before the first row, when any store
              is accepted
    active    the set that the store's pointer names
    recorded  the set that the store has under the number of `named`; None if it has no such set
    """
    if not named.number:
        return True
    if named.digest and active.digest == named.digest:
        return True
    return recorded is not None and (recorded.digest == named.digest or not named.digest)
