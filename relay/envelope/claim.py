"""The `claim` header: URL, size and digest of a value that is stored outside of Kafka."""

import json
from hashlib import sha256
from typing import Final, NamedTuple

_DIGEST_DIGITS: Final = 64


class Claim(NamedTuple):
    """A value of `size_bytes` at `url`; `sha256` is its digest in 64 hexadecimal digits."""

    url: str
    size_bytes: int
    sha256: str

    @classmethod
    def of(cls, url: str, value: bytes) -> "Claim":
        """Return the claim of a value that is stored at `url`."""
        return cls(url, len(value), sha256(value).hexdigest())


def claim_text(claim: Claim) -> str:
    """Return the header's text, a JSON object in ASCII."""
    return json.dumps(
        {"sha256": claim.sha256, "size": claim.size_bytes, "url": claim.url}, separators=(",", ":")
    )


def parse_claim(text: str | bytes) -> Claim:
    """Return the claim in a header; fields of a newer relay are ignored.

    Raises ValueError for any other text.
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
    """Return the value that was read from a claim's URL.

    Raises ValueError if it differs from the stored value.
    """
    if Claim.of(claim.url, value) != claim:
        raise ValueError(
            f"the value at {claim.url} is not the one of {claim.size_bytes} bytes that was "
            f"stored there"
        )
    return value
