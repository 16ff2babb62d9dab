"""Sources of a group among those of a job: told apart by name, and none left out."""

import pytest
from pydantic import ValidationError

from spark_jobs.config.copy import SourceServer
from spark_jobs.config.job import JobSettings
from spark_jobs.errors import SourcesIncomplete
from spark_jobs.kafka.relay_positions import Published, check_together

BOTH = frozenset({"first", "second"})


def server(instance: str, name: str = "") -> SourceServer:
    return SourceServer(instance=instance, name=name, host="h", user="u")


def published(*together: str) -> Published:
    return Published("", "b.1", 4, "", 1, "", frozenset(together or [""]))


def test_sources_are_told_apart_by_instance_and_name() -> None:
    assert [each.key for each in (server("one"), server("one", "first"))] == ["one", "one/first"]
    kafka = {"bootstrap_servers": "h:1", "topics": ["t"]}
    both = [{"instance": "one", "name": name, "host": "h", "user": "u"} for name in sorted(BOTH)]
    assert (
        len(JobSettings.model_validate({"kafka": kafka, "copy_root": "c", "sources": both}).sources)
        == 2
    )
    with pytest.raises(ValidationError, match="same instance and name"):
        JobSettings.model_validate(
            {"kafka": kafka, "copy_root": "c", "sources": [both[0], both[0]]}
        )
    with pytest.raises(ValidationError, match="match pattern"):
        server("one/first")


def test_no_source_of_a_group_is_left_out() -> None:
    group = {"one/first": published(*BOTH)}
    check_together(
        [server("one", "first"), server("one", "second"), server("two")],
        {**group, "two": published()},
    )
    with pytest.raises(SourcesIncomplete, match="no \\[\\[sources\\]\\] has the name second"):
        check_together([server("one", "first"), server("two", "second")], group)
