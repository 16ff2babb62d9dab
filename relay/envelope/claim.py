"""The `claim` header: where the value of a message lies that no topic takes, and how to know that
it is the right one.
"""

import json
from hashlib import sha256
from typing import Final, NamedTuple

_DIGEST_DIGITS: Final = 64


class Claim(NamedTuple):
    """A value of `size_bytes` behind `url`; `sha256` are the 64 hexadecimal digits of its
    digest.
    """

    url: str
    size_bytes: int
    sha256: str

    @classmethod
    def of(cls, url: str, value: bytes) -> "Claim":
        """Return the claim for a value that lies there."""
        return cls(url, len(value), sha256(value).hexdigest())


def claim_text(claim: Claim) -> str:
    """Return the header's text, a JSON object in ASCII."""
    return json.dumps(
        {"sha256": claim.sha256, "size": claim.size_bytes, "url": claim.url}, separators=(",", ":")
    )


def parse_claim(text: str | bytes) -> Claim:
    """Return the claim that a header tells of.

    Raises ValueError for any other text; what a newer relay adds is left out.
    """
    fields = json.loads(text)
    if not isinstance(fields, dict):
        raise ValueError(f"{text!r} is not a claim header")
    url, size_bytes, digest = fields.get("url"), fields.get("size"), fields.get("sha256")
    if (
        not isinstance(url, str)
        or not isinstance(size_bytes, int)
        or not isinstance(digest, str)
        or len(digest) != _DIGEST_DIGITS
    ):
        raise ValueError(f"{text!r} is not a claim header")
    return Claim(url, size_bytes, digest)


def checked_claim(claim: Claim, value: bytes) -> bytes:
    """Return the value that was read behind a claim's URL.

    Raises ValueError where it is not the one that was put there.
    """
    if Claim.of(claim.url, value) != claim:
        raise ValueError(
            f"what lies at {claim.url} is not the value of {claim.size_bytes} bytes that was put "
            f"there"
        )
    return value
