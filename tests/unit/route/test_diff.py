"""What a dry run says."""

from relay.model.table import TableId
from relay.route import changes, where
from tests.unit.route.mappings import DESIGN, documents, real, router

SHARDS = [TableId(f"r{number:02}", "user") for number in range(37)]


def _shards(topic: str, logical: str = "users", tag: str = "u") -> dict[str, str]:
    return documents(
        dbs=[{"logicDb": "d", "realDbs": "/r\\d\\d/"}],
        tbs=[{"logicTb": logical, "realTbs": "user"}],
        topics=[{"logicDb": "d", "topic": topic}],
        tags=[{"logicTb": logical, "tag": tag}],
    )


def test_a_moved_topic_is_one_sentence_for_all_its_shards() -> None:
    found = changes(router(_shards("a")), router(_shards("b,c")), [*SHARDS, real("other.t")])
    assert [change.sentence for change in found] == [
        (
            "37 real tables (r00.user, r01.user, r02.user and 34 more): moved from topic a to "
            "topics b, c."
        )
    ]
    assert found[0].tables == tuple(SHARDS)


def test_the_same_mapping_changes_nothing() -> None:
    assert changes(router(_shards("a")), router(_shards("a")), SHARDS) == []


def test_new_names_tags_and_lost_tables_are_told() -> None:
    renamed = changes(router(_shards("a")), router(_shards("a", "people", "p")), SHARDS[:1])
    assert [change.sentence for change in renamed] == [
        (
            "1 real table (r00.user): renamed from d.users to d.people: keys and partitions of "
            "their rows change."
        ),
        "1 real table (r00.user): tagged p instead of u.",
    ]
    lost = changes(router(_shards("a")), router(documents()), SHARDS[:2])
    assert [change.sentence for change in lost] == [
        (
            "2 real tables (r00.user, r01.user): now left out: no database mapping lists its "
            'database, and unmapped_db is "drop".'
        )
    ]
    found = changes(router(documents()), router(_shards("a")), SHARDS[:1])
    assert [change.sentence for change in found] == [
        "1 real table (r00.user): newly published as d.users to topic a."
    ]


def test_where_a_table_goes() -> None:
    of = router(DESIGN, unmapped_table="stop")
    assert where(of, real("realDb11.realTb11")) == (
        "realDb11.realTb11 is published as logicDb1.logicTb1 to topic topic1, tagged tag1, f1 when "
        "field1 changes."
    )
    assert where(of, real("x.y")).startswith("x.y is left out: no database mapping")
    assert where(of, real("realDb11.y")).startswith("realDb11.y is a reason to stop the instance:")


def test_each_change_has_its_kind() -> None:
    before = documents(
        dbs=[{"logicDb": "a", "realDbs": "a,gone"}], topics=[{"logicDb": "a", "topic": "a"}]
    )
    after = documents(
        dbs=[{"logicDb": "b", "realDbs": "a,new"}],
        topics=[{"logicDb": "b", "topic": "b"}],
        tags=[{"logicTb": "t", "tag": "x"}],
    )
    tables = [real("a.t"), real("gone.t"), real("new.t")]
    kinds = {each.kind for each in changes(router(before), router(after), tables)}
    assert kinds == {"moved", "renamed", "retagged", "left_out", "covered"}
    strict = changes(router(before), router(after, unmapped_db="stop"), [real("gone.t")])
    assert [each.kind for each in strict] == ["stopped"]
