"""What findings mean together, and how they are shown."""

import io

from rich.console import Console

from relay.errors import SourceLoginRefused
from relay.preflight import Verdict, exit_code, preflight_table
from relay.preflight.finding import found, not_checked, passed
from relay.preflight.kafka_checks import row_topics
from relay.preflight.store_checks import mapping_findings
from relay.route import MappingSet
from relay.settings import InstanceSettings

GOOD = passed("kafka", "1 brokers answer.")
WARNING = found("topic", SourceLoginRefused("Hm."), "shop", warning=True)
FAILURE = found("source login", SourceLoginRefused("The source said no."), "shop")
SKIPPED = not_checked("source", "the relay cannot log in", "shop")


def instance(**settings: object) -> InstanceSettings:
    return InstanceSettings.model_validate(
        {"name": "shop", "source": {"host": "h", "user": "u", "server_id": 1}, **settings}
    )


def mapping(*topics: str) -> MappingSet:
    body = '[{"logicDb":"shop","topic":"' + ",".join(topics) + '"}]'
    return MappingSet.compile(
        3,
        {
            "com.pajk.Roma.dbs": '[{"logicDb":"shop","realDbs":"shop"}]',
            "com.pajk.Roma.topics": body,
        },
    )


def test_only_a_failure_makes_the_exit_code() -> None:
    assert exit_code([GOOD, WARNING, SKIPPED]) == 0
    assert exit_code([GOOD, FAILURE]) == 1


def test_a_finding_carries_what_the_error_says() -> None:
    assert FAILURE.to_fields() == {
        "instance": "shop",
        "check": "source login",
        "verdict": "fail",
        "code": "SOURCE_LOGIN_REFUSED",
        "sentence": "The source said no.",
        "remedy": SourceLoginRefused.remedy,
    }
    assert (WARNING.verdict, SKIPPED.sentence) == (
        Verdict.WARNING,
        "Not checked because the relay cannot log in.",
    )


def test_the_table_shows_sentence_and_remedy_even_where_they_look_like_markup() -> None:
    shown = io.StringIO()
    Console(file=shown, width=120).print(
        preflight_table([GOOD, FAILURE, found("topic", SourceLoginRefused("[red]Odd[/red]."))])
    )
    for text in (
        "pass",
        "fail",
        "The source said no.",
        "→ Correct user and password of the source. ",
        "[red]Odd[/red].",
    ):
        assert text in shown.getvalue()


def test_topics_are_those_of_the_mapping_with_their_ddl() -> None:
    assert row_topics(instance(partition={"partitions_num": 8}), mapping("a", "b"), None) == {
        "a": 8,
        "b": 8,
        "a.ddl": 1,
        "b.ddl": 1,
    }
    assert row_topics(instance(message={"ddl": "inline"}), mapping("a"), None) == {"a": None}
    assert row_topics(instance(filter={"operations": ["INSERT"]}), mapping("a"), None) == {
        "a": None
    }


def test_the_default_topic_counts_where_unmapped_databases_go_there() -> None:
    routing = {"unmapped_db": "default_topic", "default_topic": "rest"}
    assert set(
        row_topics(instance(routing=routing, message={"ddl": "drop"}), mapping("a"), None)
    ) == {"a", "rest"}


def test_no_mapping_is_a_warning_and_a_set_names_its_topics() -> None:
    (none,) = mapping_findings(MappingSet.empty(), ["shop"])
    assert (none.verdict, none.sentence) == (Verdict.WARNING, "No mapping is saved for shop.")
    (good,) = mapping_findings(mapping("b", "a"), ["shop"])
    assert good.sentence == "Mapping set 3 compiles; it feeds a, b."
