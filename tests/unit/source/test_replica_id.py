"""A relay without a configured server_id finds one that nobody has, and the same one each time."""

from relay.source.replica_id import chosen_server_id

_LAST_SERVER_ID = 2**32 - 1


def test_the_number_stays_as_long_as_nobody_takes_it() -> None:
    first = chosen_server_id("roma.shop", {1, 2})
    assert chosen_server_id("roma.shop", set()) == first
    second = chosen_server_id("roma.shop", {first})
    assert chosen_server_id("roma.shop", {first, second}) not in (first, second)


def test_instances_have_numbers_of_their_own_that_every_server_takes() -> None:
    numbers = {chosen_server_id(f"roma.shop{number}", set()) for number in range(1000)}
    assert len(numbers) == 1000
    assert all(3_000_000_000 <= number <= _LAST_SERVER_ID for number in numbers)
