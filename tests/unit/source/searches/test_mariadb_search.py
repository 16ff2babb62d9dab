"""The search for a published transaction, on made-up binlogs: found only where smaller numbers
precede and greater ones follow it.
"""

from dataclasses import dataclass
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.source.positions.by_gtid.mariadb_search import MariadbSearch, Sought, State
from tests.support.examples import examples

_DOMAIN: Final = 0


@dataclass(frozen=True)
class Binlog:
    """Files of transactions (server, number), in the order of the binlog.

    The first `purged` files are gone.
    """

    files: tuple[tuple[tuple[int, int], ...], ...]
    purged: int

    @property
    def logged(self) -> list[tuple[int, int]]:
        return [each for file in self.files for each in file]

    @property
    def gone(self) -> int:
        """How many transactions are purged."""
        return sum(map(len, self.files[: self.purged]))

    def state(self, files: int) -> State:
        """Return the newest number of each server in the first files, the last one logged at the
        end, as servers do.
        """
        state: State = {}
        for file in self.files[:files]:
            for server, number in file:
                state.pop((_DOMAIN, server), None)
                state[_DOMAIN, server] = number
        return state

    def search(self) -> MariadbSearch:
        names = [str(number) for number in range(self.purged, len(self.files))]
        return MariadbSearch(
            names,
            self.state(len(self.files)),
            lambda file: self.state(int(file)),
            lambda file, _domain: iter(self.files[int(file)]),
        )


@st.composite
def binlogs(draw: st.DrawFn) -> Binlog:
    """Numbers rise for each server.

    Mostly for all of them together, as a server that follows its master numbers its own.
    """
    newest: dict[int, int] = {}
    last = 0
    files = []
    for _ in range(draw(st.integers(1, 4))):
        file = []
        for server in draw(st.lists(st.integers(1, 3), max_size=5)):
            least = (
                newest.get(server, 0)
                if draw(st.integers(0, 4)) == 0
                else max(last, newest.get(server, 0))
            )
            last = newest[server] = least + draw(st.integers(1, 2))
            file.append((server, last))
        files.append(tuple(file))
    return Binlog(tuple(files), draw(st.integers(0, len(files) - 1)))


@pytest.mark.slow
@settings(max_examples=examples(1000))
@given(binlogs(), st.integers(1, 3), st.integers(1, 25))
def test_a_transaction_is_found_exactly_where_it_parts_the_binlog(
    binlog: Binlog, server: int, number: int
) -> None:
    found = binlog.search().find(_DOMAIN, server, number)
    logged = binlog.logged
    if (server, number) not in logged:
        assert found is not Sought.FOUND
        return
    at = logged.index((server, number))
    parted = all(each < number for _, each in logged[:at]) and all(
        each > number for _, each in logged[at + 1 :]
    )
    assert (found is Sought.FOUND) == (parted and binlog.gone <= at + 1)
    if parted and binlog.gone > at + 1:
        assert found is Sought.PURGED
    if not parted and binlog.gone <= at + 1:
        assert found is Sought.DISORDERED
