"""Random DDL: the history that is followed equals the catalogue after every statement.

A short part of `make ddl`.
"""

from typing import Final

from deploy.embedded import SqlServer
from tests.ddl.comparing import compare
from tests.servers.fixtures import NEWER_SERVERS, FreshName

_STATEMENTS: Final = 100
_SEED: Final = 7
_MOST_UNKNOWN: Final = 15
"""So many tables may become unknown, which the catalogue then describes anew.

More would say that little is followed.
"""


@NEWER_SERVERS
def test_what_is_followed_is_what_the_catalogue_says_after_random_statements(
    database: SqlServer, fresh_name: FreshName
) -> None:
    came = compare(database, fresh_name("ddl"), _SEED, _STATEMENTS)
    assert came.carried_out == _STATEMENTS
    assert came.wrong == []
    assert came.unknown <= _MOST_UNKNOWN, came.reasons
