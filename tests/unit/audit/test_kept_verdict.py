"""A kept verdict is of exactly the records that are there."""

from collections.abc import Sequence

import pytest

from relay.audit.kept_verdict import KeptVerdict, Records
from relay.audit.verify import AuditVerdict, verify

WHOLE: Records = ((3, b"a"), (4, b"bc"), (5, None), (6, b""))


class Checks:
    """Counts how often the records were checked."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, records: Records, first_offset: int) -> AuditVerdict:
        self.count += 1
        return verify(records, first_offset)


def test_a_trail_that_is_the_same_is_checked_once() -> None:
    checks = Checks()
    mark = KeptVerdict(checks)
    first = mark.verdict(WHOLE, 3)
    assert mark.verdict(list(WHOLE), 3) == first == verify(WHOLE, 3)
    assert checks.count == 1


@pytest.mark.parametrize(
    ("records", "first_offset"),
    [
        ((*WHOLE, (7, b"d")), 3),
        (WHOLE[1:], 3),
        (((3, b"b"), *WHOLE[1:]), 3),
        (((3, b"ab"), (4, b"c"), *WHOLE[2:]), 3),
        (((2, b"a"), *WHOLE[1:]), 3),
        ((*WHOLE[:2], (5, b""), (6, None)), 3),
        (WHOLE, 2),
        ((), 3),
    ],
)
def test_any_change_is_checked_again(
    records: Sequence[tuple[int, bytes | None]], first_offset: int
) -> None:
    checks = Checks()
    mark = KeptVerdict(checks)
    mark.verdict(WHOLE, 3)
    assert mark.verdict(records, first_offset) == verify(records, first_offset)
    assert checks.count == 2
    mark.verdict(WHOLE, 3)
    assert checks.count == 3
