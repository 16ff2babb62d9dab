"""Random DDL: the history that is followed equals the catalogue after every statement.

A short part of `make ddl`.
"""

from typing import Final

import pytest

from deploy.embedded import SqlServer
from tests.ddl.comparing import compare
from tests.servers.fixtures import FreshName

_SEED: Final = 7
_MOST_UNKNOWN: Final = 15
"""So many tables may become unknown, which the catalogue then describes anew.

More would say that little is followed.
"""


@pytest.mark.parametrize("statements", [40, pytest.param(100, marks=pytest.mark.long)])
def test_what_is_followed_is_what_the_catalogue_says_after_random_statements(
    database: SqlServer, fresh_name: FreshName, statements: int
) -> None:
    came = compare(database, fresh_name("ddl"), _SEED, statements)
    assert came.carried_out == statements
    assert came.wrong == []
    assert came.unknown <= _MOST_UNKNOWN, came.reasons
