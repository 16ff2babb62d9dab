"""A job that copies tables must know the rules that the instance publishes by, salts included."""

import pytest

from relay.refine import configuration_of_rows
from relay.settings import InstanceSettings
from spark_jobs.config.copy import SourceServer
from spark_jobs.errors import RulesDiffer
from spark_jobs.kafka.relay_positions import Published, check_rules

HASH = {"columns": ".*\\.mail", "method": "hash", "salt": "a salt that nobody would guess"}
OTHER_SALT = {**HASH, "salt": "another salt, as hard to guess"}
WHERE = {"tables": ".*", "where": "id > 1"}


def published(**asked: object) -> Published:
    """What the record of an instance with these settings says."""
    document = {"name": "one", "source": {"host": "h", "user": "u", "server_id": 7}, **asked}
    return Published(
        "", "", 0, "", 1, "", rows=configuration_of_rows(InstanceSettings.model_validate(document))
    )


def server(**asked: object) -> SourceServer:
    return SourceServer.model_validate({"instance": "one", "host": "h", "user": "u", **asked})


@pytest.mark.parametrize("asked", [{}, {"masks": [HASH]}, {"masks": [HASH], "rules": [WHERE]}])
def test_the_same_rules_pass(asked: dict[str, object]) -> None:
    check_rules(server(**asked), published(**asked))


@pytest.mark.parametrize(
    ("own", "relays", "words"),
    [
        ({}, {"masks": [HASH]}, "which has some"),
        ({"masks": [OTHER_SALT]}, {"masks": [HASH]}, "which has others"),
        ({"masks": [HASH]}, {"masks": [HASH], "rules": [WHERE]}, "which has others"),
        ({"masks": [HASH]}, {}, "which has none"),
    ],
)
def test_other_rules_are_refused(
    own: dict[str, object], relays: dict[str, object], words: str
) -> None:
    with pytest.raises(RulesDiffer, match=words) as refused:
        check_rules(server(**own), published(**relays))
    assert "guess" not in str(refused.value)
