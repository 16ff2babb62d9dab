"""What identifies a mapping set: its number, and a digest of its documents.

A number alone identifies nothing: a ZooKeeper that lost its data counts from 1 again.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Final, NamedTuple

_DIGEST_CHARACTERS: Final = 32


class MappingName(NamedTuple):
    """A set's number and the digest of its documents.

    Number 0 is "no set was ever saved". `digest` is "" for number 0, and in records of relays that
    did not write it.
    """

    number: int = 0
    digest: str = ""

    def __str__(self) -> str:
        return f"{self.number} ({self.digest[:8]})" if self.digest else str(self.number)


class RecordedSets(NamedTuple):
    """The mapping sets in the position records of an installation.

    highest  the highest number of a set that rows were published under, 0 for none
    names    the sets that the records name now
    """

    highest: int = 0
    names: frozenset[MappingName] = frozenset()


def digest_of(documents: Mapping[str, str]) -> str:
    """Return a digest of the documents' contents: dataId → JSON text.

    White space between JSON tokens does not count, and a missing document equals `[]`.
    """
    said = {data_id: _canonical(body) for data_id, body in documents.items()}
    lines = "\n".join(f"{data_id} {body}" for data_id, body in sorted(said.items()) if body != "[]")
    return sha256(lines.encode()).hexdigest()[:_DIGEST_CHARACTERS]


def _canonical(body: str) -> str:
    """Return the body as ASCII without white space between tokens.

    An invalid JSON body is quoted whole.
    """
    try:
        return json.dumps(json.loads(body), separators=(",", ":"))
    except (ValueError, RecursionError):
        return json.dumps({"no JSON": body})


def same_store(named: MappingName, in_force: MappingName, recorded: MappingName | None) -> bool:
    """Return whether a store's sets continue those that rows were published under.

    `named` is the set of the position record, `in_force` the set that the store's pointer names,
    and `recorded` the set that the store holds under the number of `named`, None if it has none.
    Before the first row no set is named, so every store is accepted.
    """
    if not named.number:
        return True
    if named.digest and in_force.digest == named.digest:
        return True
    return recorded is not None and (recorded.digest == named.digest or not named.digest)
