"""Mutations of bytes like those of disks, networks and attackers."""

from random import Random
from typing import Final

# What lengths, counts and type codes are worst at: borders of their widths, and the marks of
# length-encoded integers.
_BYTES: Final = (0x00, 0x01, 0x7F, 0x80, 0xF7, 0xFA, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF)
_NUMBERS: Final = (
    0,
    1,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    2**31 - 20,
    2**63 - 1,
    2**63,
    2**64 - 1,
)
_WIDTHS: Final = (2, 3, 4, 8)
_LONGEST_PIECE: Final = 64
_MOST_DAMAGES: Final = 4


def damaged(raw: bytes, rng: Random, other: bytes = b"") -> bytes:
    """Return `raw` after one to four damages; parts of `other` may be inserted."""
    changed = bytearray(raw)
    for _ in range(rng.randint(1, _MOST_DAMAGES)):
        rng.choice(_DAMAGES)(changed, rng, other)
    return bytes(changed)


def _flip(raw: bytearray, rng: Random, _: bytes) -> None:
    if raw:
        raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)


def _set_byte(raw: bytearray, rng: Random, _: bytes) -> None:
    if raw:
        raw[rng.randrange(len(raw))] = (
            rng.choice(_BYTES) if rng.random() < 0.7 else rng.randrange(256)
        )


def _set_number(raw: bytearray, rng: Random, _: bytes) -> None:
    width = rng.choice(_WIDTHS)
    at = rng.randint(0, max(0, len(raw) - width))
    raw[at : at + width] = (rng.choice(_NUMBERS) & (1 << 8 * width) - 1).to_bytes(width, "little")


def _cut(raw: bytearray, rng: Random, _: bytes) -> None:
    del raw[rng.randint(0, len(raw)) :]


def _remove(raw: bytearray, rng: Random, _: bytes) -> None:
    at = rng.randint(0, len(raw))
    del raw[at : at + rng.randint(1, 8)]


def _repeat(raw: bytearray, rng: Random, _: bytes) -> None:
    at = rng.randint(0, len(raw))
    raw[at:at] = raw[at : at + rng.randint(1, _LONGEST_PIECE)]


def _insert(raw: bytearray, rng: Random, _: bytes) -> None:
    at = rng.randint(0, len(raw))
    raw[at:at] = rng.randbytes(rng.randint(1, 8))


def _splice(raw: bytearray, rng: Random, other: bytes) -> None:
    at, start = rng.randint(0, len(raw)), rng.randint(0, len(other))
    piece = other[start : start + rng.randint(1, _LONGEST_PIECE)]
    raw[at : at + len(piece)] = piece


def _grow(raw: bytearray, rng: Random, _: bytes) -> None:
    raw += rng.randbytes(rng.randint(1, 4)) if rng.random() < 0.5 else bytes(rng.randint(1, 300))


_DAMAGES: Final = (
    _flip,
    _flip,
    _set_byte,
    _set_byte,
    _set_number,
    _set_number,
    _cut,
    _remove,
    _repeat,
    _insert,
    _splice,
    _grow,
)
