"""The code of the link is one, valid for 15 minutes, and nothing else opens."""

import pytest

from api.access.login.first_admin import VALID_SECONDS, FirstAdminLink
from api.errors import FirstAdminRefused


class Clock:
    """Monotonic seconds that a test sets."""

    now = 5.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("code", ["", "x", "ä", "\udcff", "A" * 22])
def test_before_it_is_offered_no_code_opens(code: str) -> None:
    with pytest.raises(FirstAdminRefused):
        FirstAdminLink().check(code)


def test_a_code_ends_by_time_by_use_and_by_the_next_one() -> None:
    clock = Clock()
    link = FirstAdminLink(clock)
    first, second = link.offer(), link.offer()
    link.check(second)
    for wrong in (first, "", second[:-1], f"{second} "):
        with pytest.raises(FirstAdminRefused):
            link.check(wrong)
    clock.now += VALID_SECONDS - 1
    link.check(second)
    clock.now += 1
    with pytest.raises(FirstAdminRefused):
        link.check(second)
    third = link.offer()
    link.close()
    for ended in (third, ""):
        with pytest.raises(FirstAdminRefused):
            link.check(ended)
