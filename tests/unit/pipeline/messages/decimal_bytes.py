"""DECIMAL as servers store it (MySQL source: decimal2bin)."""

from hypothesis import strategies as st


def decimals(precision: int, scale: int) -> st.SearchStrategy[bytes]:
    """Values of DECIMAL(precision, scale)."""
    sizes = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)
    whole = precision - scale
    groups = (
        [whole % 9] * bool(whole % 9)
        + [9] * (whole // 9)
        + [9] * (scale // 9)
        + [scale % 9] * bool(scale % 9)
    )

    def packed(value: tuple[bool, tuple[int, ...]]) -> bytes:
        negative, parts = value
        raw = bytearray(
            b"".join(
                part.to_bytes(sizes[digits], "big")
                for part, digits in zip(parts, groups, strict=True)
            )
        )
        raw[0] ^= 0x80
        return bytes(one ^ 0xFF for one in raw) if negative else bytes(raw)

    return st.tuples(
        st.booleans(), st.tuples(*(st.integers(0, 10**digits - 1) for digits in groups))
    ).map(packed)
