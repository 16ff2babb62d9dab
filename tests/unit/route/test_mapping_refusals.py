"""Every contradiction is refused, with the document, the pointer and a sentence."""

import json

import pytest

from relay.errors import MappingRefused
from relay.route import DBS, TAGS, TBS, TOPICS, MappingSet, problems
from tests.unit.route.mappings import DESIGN, Entries, documents

D = {"logicDb": "d", "realDbs": "r"}
T = {"logicDb": "d", "topic": "t"}


def refusals(texts: dict[str, str]) -> list[tuple[str, str]]:
    return [(problem.data_id, problem.pointer) for problem in problems(texts)]


def test_the_examples_of_the_documents_are_accepted() -> None:
    assert problems(DESIGN) == []
    assert problems({}) == []


@pytest.mark.parametrize(
    ("data_id", "text", "pointer"),
    [
        (DBS, "", ""),
        (DBS, "[", ""),
        (DBS, "{}", ""),
        (DBS, '[{"logicDb":"a","logicDb":"b","realDbs":"r"}]', ""),
        (DBS, "[NaN]", ""),
        (DBS, "[1]", "/0"),
        (DBS, '[{"logicDb":"a"}]', "/0/realDbs"),
        (TBS, '[{"logicTb":"a","realTbs":"r","extra":1}]', "/0/extra"),
        (TBS, '[{"logicTb":1,"realTbs":"r"}]', "/0/logicTb"),
        (TBS, '[{"logicTb":"a","realTbs":[1]}]', "/0/realTbs/0"),
        (TBS, '[{"logicTb":"a","realTbs":"/x"}]', "/0/realTbs"),
        (TBS, '[{"logicTb":"a","realTbs":"/x(/"}]', "/0/realTbs"),
        (TBS, '[{"logicTb":"a","realTbs":"//"}]', "/0/realTbs"),
        (TBS, '[{"logicTb":"a","realTbs":"a,,b"}]', "/0/realTbs"),
        (TBS, '[{"logicTb":"a","realTbs":"a.b.c"}]', "/0/realTbs"),
        (TBS, '[{"logicTb":"/a/","realTbs":"a"}]', "/0/logicTb"),
        (TBS, '[{"logicTb":"","realTbs":"a"}]', "/0/logicTb"),
        (TOPICS, '[{"logicDb":"a","topic":""}]', "/0/topic"),
        (TOPICS, '[{"logicDb":"a","topic":[]}]', "/0/topic"),
        (TOPICS, '[{"logicDb":"a","topic":"white space"}]', "/0/topic"),
        (TOPICS, '[{"logicDb":"a","topic":".."}]', "/0/topic"),
        (TOPICS, '[{"logicDb":"a","topic":"__consumer_offsets"}]', "/0/topic"),
        (TOPICS, f'[{{"logicDb":"a","topic":"{"x" * 246}"}}]', "/0/topic"),
        (TOPICS, '[{"logicDb":"a","topic":"x,x"}]', "/0/topic"),
        (TOPICS, '[{"logicDb":"a","topic":"x"},{"logicDb":"a","topic":"y"}]', "/1/logicDb"),
        (TOPICS, '[{"logicDb":"a","topic":"x"},{"logicDb":"b","topic":"x.ddl"}]', ""),
        (TAGS, '[{"logicTb":"a,f","tag":"t"}]', "/0/tag"),
        (TAGS, '[{"logicTb":"a","tag":"t,f"}]', "/0/tag"),
        (TAGS, '[{"logicTb":"a,f","tag":"t,"}]', "/0/tag"),
        (TAGS, '[{"logicTb":",f","tag":"t,f"}]', "/0/logicTb"),
        ("com.pajk.Roma.other", "[]", ""),
    ],
)
def test_a_broken_document_is_refused_at_its_place(data_id: str, text: str, pointer: str) -> None:
    found = problems({data_id: text})
    assert [(problem.data_id, problem.pointer) for problem in found] == [(data_id, pointer)]
    assert found[0].sentence.endswith(".")


@pytest.mark.parametrize(
    ("dbs", "tbs", "place"),
    [
        ([D, {"logicDb": "e", "realDbs": "x,r"}], [], (DBS, "/1/realDbs")),
        ([D, {"logicDb": "e", "realDbs": "/r?/"}], [], (DBS, "/1/realDbs")),
        ([{"logicDb": "e", "realDbs": "/r?/"}, D], [], (DBS, "/1/realDbs")),
        (
            [D],
            [{"logicTb": "a", "realTbs": "x"}, {"logicTb": "b", "realTbs": "x"}],
            (TBS, "/1/realTbs"),
        ),
        (
            [D],
            [{"logicTb": "a", "realTbs": "x"}, {"logicTb": "b", "realTbs": "/x+/"}],
            (TBS, "/1/realTbs"),
        ),
        (
            [D],
            [{"logicTb": "a", "realTbs": "/x+/"}, {"logicTb": "b", "realTbs": "x"}],
            (TBS, "/1/realTbs"),
        ),
        (
            [D],
            [{"logicTb": "a", "realTbs": "/x+/"}, {"logicTb": "b", "realTbs": "/x+/"}],
            (TBS, "/1/realTbs"),
        ),
        (
            [D],
            [{"logicTb": "a", "realTbs": "r.x"}, {"logicTb": "d.b", "realTbs": "x"}],
            (TBS, "/1/realTbs"),
        ),
        (
            [D],
            [{"logicTb": "d.a", "realTbs": "x"}, {"logicTb": "d.b", "realTbs": "x"}],
            (TBS, "/1/realTbs"),
        ),
        (
            [D],
            [{"logicTb": "a", "realTbs": "/r./.x,/./.x"}, {"logicTb": "b", "realTbs": "r.x"}],
            (TBS, "/1/realTbs"),
        ),
        ([D], [{"logicTb": "a", "realTbs": "nowhere.x"}], (TBS, "/0/realTbs")),
        ([D], [{"logicTb": "nowhere.a", "realTbs": "x"}], (TBS, "/0/logicTb")),
        (
            [D, {"logicDb": "e", "realDbs": "s"}],
            [{"logicTb": "e.a", "realTbs": "r.x"}],
            (TBS, "/0/realTbs"),
        ),
    ],
)
def test_one_real_name_under_two_logical_ones_is_refused(
    dbs: Entries, tbs: Entries, place: tuple[str, str]
) -> None:
    texts = documents(dbs=dbs, tbs=tbs, topics=[T, {"logicDb": "e", "topic": "t"}])
    assert refusals(texts) == [place]


@pytest.mark.parametrize(
    "tbs",
    [
        [{"logicTb": "a", "realTbs": "x"}, {"logicTb": "a", "realTbs": "x,y"}],
        [{"logicTb": "a", "realTbs": "x"}, {"logicTb": "b", "realTbs": "r.x"}],
        [{"logicTb": "a", "realTbs": "r.x"}, {"logicTb": "e.b", "realTbs": "x"}],
        [{"logicTb": "d.a", "realTbs": "x"}, {"logicTb": "e.b", "realTbs": "x"}],
    ],
)
def test_rules_that_never_meet_are_accepted(tbs: Entries) -> None:
    dbs = [D, {"logicDb": "e", "realDbs": "s"}]
    assert problems(documents(dbs=dbs, tbs=tbs, topics=[T, {"logicDb": "e", "topic": "t"}])) == []


def test_a_logical_database_without_a_topic_is_refused() -> None:
    assert refusals(documents(dbs=[D])) == [(DBS, "/0/logicDb")]


def test_all_problems_are_named_at_once_and_the_first_is_raised() -> None:
    texts = documents(
        dbs=[D], tbs=[{"logicTb": "", "realTbs": "x"}], tags=[{"logicTb": "a,b", "tag": "x"}]
    )
    assert refusals(texts) == [(TBS, "/0/logicTb"), (TAGS, "/0/tag"), (DBS, "/0/logicDb")]
    with pytest.raises(MappingRefused, match="2 more problems") as refused:
        MappingSet.compile(1, texts)
    assert (refused.value.data_id, refused.value.pointer) == (TBS, "/0/logicTb")


def test_an_unreadable_document_does_not_make_the_others_look_wrong() -> None:
    texts = {**documents(dbs=[D], tbs=[{"logicTb": "a", "realTbs": "r.x"}]), TOPICS: "not json"}
    assert refusals(texts) == [(TOPICS, "")]
    assert json.loads(texts[DBS])


def test_every_empty_name_of_an_entry_is_told() -> None:
    texts = documents(
        dbs=[{"logicDb": "", "realDbs": ["a", "", "b", " "]}],
        tbs=[{"logicTb": "", "realTbs": ["", "a/b"]}],
        tags=[{"logicTb": ["", "f", ""], "tag": ["t", "", ""]}],
    )
    assert [(each.pointer, each.sentence) for each in problems(texts)] == [
        ("/0/realDbs", "2 names of 4 are empty: number 2, 4."),
        ("/0/logicDb", "A name is empty."),
        ("/0/realTbs", "The name number 1 of 2 is empty."),
        ("/0/realTbs", "'a/b' opens a regular expression with a slash and does not close it."),
        ("/0/logicTb", "A name is empty."),
        ("/0/logicTb", "2 names of 3 are empty: number 1, 3."),
        ("/0/tag", "2 tags of 3 are empty: number 2, 3."),
    ]


def test_an_unknown_key_or_document_gets_the_nearest_one() -> None:
    (key,) = problems({DBS: '[{"logicDb":"a","realDbs":"r","realdb":1}]'})
    assert key.sentence == "This key is not known here; did you mean 'realDbs'?"
    (document,) = problems({"com.pajk.Roma.db": "[]"})
    assert document.sentence.endswith("Did you mean dbs?")
