"""What the editor shows: differences, proposals, counts, and the form that carries an edit."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.errors import BadRequest
from api.models.problem import MappingProblemView
from api.services.mappings.merge.proposal import proposal
from api.services.mappings.merge.text_diff import diff_lines, document_diffs
from api.services.mappings.routing_views import RouteEffect
from api.web.forms import Form
from api.web.pages.mappings.edit_form import read_edit
from api.web.views.editor import documents_shown, kind_counts
from relay.route import DBS, TBS, TOPICS, problems

_TEXTS = st.lists(st.sampled_from(["a", "b", "c", "[", "]"]), max_size=12).map("\n".join)


@given(_TEXTS, _TEXTS)
def test_a_difference_shows_each_line_that_came_or_went(old: str, new: str) -> None:
    lines = diff_lines(old, new)
    for sign, text in (("-", old), ("+", new)):
        theirs = text.split("\n")
        assert all(theirs[each.number - 1] == each.text for each in lines if each.sign == sign)
    came = sum(each.sign == "+" for each in lines) - sum(each.sign == "-" for each in lines)
    assert came == new.count("\n") - old.count("\n")
    assert bool([each for each in lines if each.sign != " "]) == (old != new)


def test_only_documents_that_differ_are_listed() -> None:
    (diff,) = document_diffs({DBS: "[1]", TBS: "[]"}, {DBS: "[2]", TBS: "[]"})
    assert (diff.data_id, diff.sums) == (DBS, "+1 −1")  # noqa: RUF001  # the sign that pages show


def test_a_proposal_for_an_unmapped_database_can_come_into_force() -> None:
    bodies = {
        DBS: '[{"logicDb":"shop","realDbs":"shop_01"}]',
        TOPICS: '[{"logicDb":"shop","topic":"s"}]',
    }
    found = proposal(bodies, "metrics.sample")
    assert not problems(found)
    assert json.loads(found[DBS])[1] == {"logicDb": "metrics", "realDbs": "metrics"}
    assert json.loads(found[TBS]) == [{"logicTb": "sample", "realTbs": "metrics.sample"}]


def test_a_proposal_for_a_table_of_a_mapped_database_adds_the_table_alone() -> None:
    bodies = {DBS: '[{"logicDb":"shop","realDbs":["shop_01"]}]', TBS: "broken"}
    assert proposal(bodies, "shop_01.t") == bodies
    assert set(proposal({DBS: bodies[DBS]}, "shop_01.t")) == {DBS, TBS}


def test_documents_are_shown_with_their_bad_lines() -> None:
    bad = [MappingProblemView(data_id=TBS, pointer="/0", sentence="x", line=3, column=1)]
    shown = {each.name: each for each in documents_shown({TBS: "[\n1\n]"}, {TBS: 4}, bad)}
    assert (set(shown["tbs"].bad), shown["tbs"].problems, shown["tbs"].lines) == ({3}, 1, 3)
    assert (shown["dbs"].text, shown["dbs"].version, shown["tbs"].version) == ("", None, 4)


def test_tables_are_counted_once_for_each_kind() -> None:
    changes = [
        RouteEffect(("a",), "s", ("x.1", "x.2"), "moved"),
        RouteEffect(("b",), "s", ("x.2",), "moved"),
        RouteEffect((), "hint", ("x.3",)),
    ]
    assert kind_counts(changes) == [("Move to another topic", 2)]


def test_line_breaks_of_a_browser_change_no_document() -> None:
    base = {DBS: '[\r\n{"a": 1}\n]\n', TBS: "[]"}
    form = Form({"base": "3", "dbs": '[\r\n{"a": 1}\r\n]\r\n', "tbs": " \r\n", "tags": "[\r\n]"})
    edit = read_edit(form, base)
    assert edit.base == 3
    assert edit.bodies == {DBS: base[DBS], "com.pajk.Roma.tags": "[\n]"}


@pytest.mark.parametrize(("base", "blind"), [("0", False), ("7", False)])
def test_a_save_is_guarded_by_the_set_that_it_began_with(base: str, blind: bool) -> None:
    precondition = read_edit(Form({"base": base}), {}).precondition
    assert precondition.blind is blind
    assert (precondition.if_match is None) == (base == "0")


@pytest.mark.parametrize("base", ["", "-1", "x"])
def test_a_form_without_a_set_is_refused(base: str) -> None:
    with pytest.raises(BadRequest):
        read_edit(Form({"base": base}), {})
