"""A copy under load is exact, whatever happens meanwhile: one round in the suite, with a seed.

`make snapshots` runs many.
"""

import pytest

from deploy.embedded import Kafka, SqlServer
from tests.e2e.conftest import NewInstallation
from tests.snapshots.under_load import one_round


@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    ("server", "seed", "acts"),
    [
        ("mysql_9", 3, ("kill", "rename", "key type", "XA", "truncate")),
        pytest.param(
            "mariadb",
            5,
            ("kill", "rename", "collation", "skip", "alter"),
            marks=pytest.mark.long,
        ),
    ],
)
def test_each_last_message_is_the_row_after_kills_alters_and_edits(
    server: str,
    seed: int,
    acts: tuple[str, ...],
    kafka: Kafka,
    new_installation: NewInstallation,
    request: pytest.FixtureRequest,
) -> None:
    database: SqlServer = request.getfixturevalue(server)
    installation = new_installation(database, kafka)
    found = one_round(installation, database, kafka, seed, only=acts)
    assert found.wrong == []
    assert found.copied > 1000
    assert found.transactions > 50
