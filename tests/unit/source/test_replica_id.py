"""A relay without a configured server_id finds one that nobody has, and the same one each time."""

from typing import Any
from unittest.mock import Mock

import pytest
from pydantic import SecretStr

from relay.errors import ServerIdTaken
from relay.settings import SourceSettings
from relay.source import ServerFacts
from relay.source.protocol.commands import REPORTED_HOST, replica_uuid
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.replica_id import chosen_server_id, free_server_id

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


@pytest.mark.parametrize(
    ("version", "ours", "other"),
    [
        ((5, 5, 9), (7, REPORTED_HOST, 0, 1), (7, "other", 0, 1)),
        (
            (5, 7, 29),
            (7, REPORTED_HOST, 0, 1, replica_uuid(7)),
            (7, REPORTED_HOST, 0, 1, "3e11fa47-71ca-11e1-9e33-c80aa9429562"),
        ),
    ],
)
def test_a_reading_of_the_relays_own_that_the_source_still_lists_takes_no_number(
    version: tuple[int, int, int], ours: tuple[Any, ...], other: tuple[Any, ...]
) -> None:
    settings = SourceSettings(host="127.0.0.1", user="u", password=SecretStr("p"), server_id=7)
    server = ServerFacts("mysql", version, "", 1, "", {})
    assert free_server_id(_listing(ours), settings, server, "roma.shop") == 7
    with pytest.raises(ServerIdTaken):
        free_server_id(_listing(other), settings, server, "roma.shop")


def _listing(*rows: tuple[Any, ...]) -> SourceConnection:
    connection = Mock(spec=SourceConnection)
    connection.rows.return_value = list(rows)
    return connection
