"""Chains of the audit trail: what was changed, removed or added is named, and nothing else."""

from collections.abc import Callable
from random import Random

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.audit import ERASED, ERASED_ENTRIES, AuditEntry, AuditVerdict, Reference, StoredEntry
from relay.audit.chain import Chain, OlderEntries, newest_entries
from relay.audit.verify import verify


class Topic:
    """An audit topic as a list of values, with writers that begin and append."""

    def __init__(self) -> None:
        self.values: list[bytes] = []
        self.number = 0

    def begin(self, label: str = "ann", *, blind: bool = False) -> Chain:
        stored = [StoredEntry.from_bytes(each) for each in self.values]
        found = newest_entries(stored)
        if not found:
            older = OlderEntries()
            for each in self.values:
                older.add(each)
            found = older.references
        return Chain(label, None if blind else found)

    def append(self, chain: Chain, **fields: object) -> None:
        self.number += 1
        entry = AuditEntry("ann", f"act-{self.number}", "shop", at_ms=self.number)
        if fields:
            entry = AuditEntry("ann", f"act-{self.number}", "shop", fields, at_ms=self.number)
        self.values.append(chain.next(entry).to_bytes())

    def verdict(self, *known: Reference) -> AuditVerdict:
        return verify(list(enumerate(self.values)), 0, known)


def grown(steps: list[int]) -> Topic:
    """A topic to which writers appended in turn; 0 begins another writer."""
    topic = Topic()
    chains = [topic.begin()]
    for step in steps:
        if step == 0:
            chains.append(topic.begin())
        topic.append(chains[step % len(chains)], step=step)
    return topic


_STEPS = st.lists(st.integers(0, 5), min_size=1, max_size=12)


@given(_STEPS, st.randoms())
def test_writers_in_any_order_make_chains_without_a_problem(
    steps: list[int], order: Random
) -> None:
    topic = grown(steps)
    order.shuffle(topic.values)  # Kafka orders the entries of several writers at will
    verdict = topic.verdict()
    assert verdict.problems == ()
    assert verdict.entries == len(steps)


@given(_STEPS, st.data())
def test_an_entry_that_another_one_names_cannot_be_removed_or_changed(
    steps: list[int], data: st.DataObject
) -> None:
    topic = grown(steps)
    newest = topic.verdict().newest
    place = data.draw(st.integers(0, len(topic.values) - 1))
    reference = StoredEntry.from_bytes(topic.values[place]).reference
    if data.draw(st.booleans()):
        del topic.values[place]
    else:
        fields = orjson.loads(topic.values[place])
        name = data.draw(st.sampled_from(["actor", "act", "subject", "comment"]))
        topic.values[place] = orjson.dumps({**fields, name: "forged"})
    # the newest entries of all chains are those that nothing protects, unless they are known
    assert bool(topic.verdict().problems) == (reference not in newest)
    assert topic.verdict(*newest).problems


def test_a_gap_names_writer_and_number() -> None:
    topic = Topic()
    chain = topic.begin()
    for _ in range(4):
        topic.append(chain)
    del topic.values[1]
    (problem,) = topic.verdict().problems
    assert problem == (f"Entry 2 of {chain.writer} is missing; entry 3 of {chain.writer} names it.")


def test_a_changed_entry_is_told_from_a_missing_one() -> None:
    topic = Topic()
    chain = topic.begin()
    topic.append(chain, rows=1)
    topic.append(chain)
    topic.values[0] = topic.values[0].replace(b'"rows":1', b'"rows":2')
    (problem,) = topic.verdict().problems
    assert "was changed or replaced" in problem


def test_two_admins_with_one_name_have_chains_of_their_own() -> None:
    topic = Topic()
    first, second = topic.begin("admin1"), topic.begin("admin1")
    for chain in (first, second, first, second):
        topic.append(chain)
    assert first.writer != second.writer
    assert topic.verdict().problems == ()
    assert topic.verdict().chains == 2


def test_two_entries_at_one_place_of_a_chain_are_named() -> None:
    topic = Topic()
    chain = topic.begin()
    topic.append(chain, rows=1)
    topic.values.append(topic.values[0].replace(b'"rows":1', b'"rows":2'))
    (problem,) = topic.verdict().problems
    assert "2 times with different contents" in problem


def test_a_repeated_record_is_counted_and_no_problem() -> None:
    topic = Topic()
    topic.append(topic.begin())
    topic.values *= 2
    assert (topic.verdict().problems, topic.verdict().repeated) == ((), 1)


def test_a_process_that_died_between_entries_leaves_no_gap() -> None:
    topic = Topic()
    died = topic.begin()
    topic.append(died)
    topic.append(topic.begin())  # the process starts again: another chain
    assert topic.verdict().problems == ()
    del topic.values[0]
    assert "is missing" in topic.verdict().problems[0]


@pytest.mark.parametrize(
    "damage",
    [
        lambda values: values[2:],  # DeleteRecords, or retention that somebody shortened
        lambda values: values[1::2],  # compaction keeps the newest entry of a key
        lambda _: [],  # the topic was deleted and made anew
    ],
    ids=["beginning", "compacted", "made-again"],
)
def test_what_was_lost_is_named_when_a_living_writer_continues(
    damage: Callable[[list[bytes]], list[bytes]],
) -> None:
    topic = Topic()
    living, other = topic.begin(), topic.begin()
    for chain in (living, other, living, living):
        topic.append(chain)
    topic.values = damage(topic.values)
    topic.append(living)
    assert topic.verdict().problems


def test_a_restored_older_copy_is_found_by_known_entries_alone() -> None:
    topic = Topic()
    chain = topic.begin()
    topic.append(chain)
    copy = list(topic.values)
    topic.append(chain)
    known = topic.verdict().newest
    topic.values = copy
    topic.append(topic.begin())
    assert topic.verdict().problems == ()  # no chain can tell
    (problem,) = topic.verdict(*known).problems
    assert "the list of known entries names it" in problem


def test_entries_of_the_first_format_are_named_by_the_first_chain() -> None:
    topic = Topic()
    for number in range(3):
        topic.values.append(AuditEntry("ann", f"old-{number}", at_ms=number).to_bytes())
    topic.values.append(topic.values[2])  # repeated after an answer that did not come
    topic.append(topic.begin())
    assert (topic.verdict().problems, topic.verdict().unchained) == ((), 3)
    topic.values[1] = topic.values[1].replace(b"old-1", b"old-x")
    (problem,) = topic.verdict().problems
    assert "first 3 entries without a chain" in problem


def test_entries_of_an_older_version_beside_chains_are_noted() -> None:
    topic = Topic()
    topic.append(topic.begin())
    topic.values.append(AuditEntry("ann", "old").to_bytes())
    assert topic.verdict().problems == ()
    assert "1 entries without a chain came after" in topic.verdict().notes[0]


def test_a_chain_that_could_not_read_the_others_is_noted() -> None:
    topic = Topic()
    topic.append(topic.begin(blind=True))
    assert "1 chains began without naming" in topic.verdict().notes[0]


def test_a_record_that_is_no_entry_is_named() -> None:
    topic = Topic()
    topic.append(topic.begin())
    topic.values.append(b"{}")
    assert topic.verdict().problems == ("The record at offset 1 is not an audit entry.",)


def test_many_problems_of_a_kind_are_counted() -> None:
    problems = verify([(each, b"") for each in range(30)]).problems
    assert (len(problems), problems[-1]) == (21, "10 more findings of this kind.")


def test_erased_contents_keep_the_digest_and_must_be_named() -> None:
    topic = Topic()
    chain = topic.begin()
    topic.append(chain, name="Jane Roe")
    topic.append(chain)
    whole = StoredEntry.from_bytes(topic.values[0])
    topic.values[0] = whole.without_contents().to_bytes()
    assert b"Jane" not in topic.values[0]
    assert StoredEntry.from_bytes(topic.values[0]).reference == whole.reference
    (problem,) = topic.verdict().problems
    assert f"no {ERASED} entry names it" in problem
    entry = AuditEntry("ann", ERASED, after={ERASED_ENTRIES: [str(whole.reference)]})
    topic.values.append(chain.next(entry).to_bytes())
    assert (topic.verdict().problems, topic.verdict().erased) == ((), 1)


def test_an_erased_entry_of_the_first_format_keeps_no_digest_of_its_contents() -> None:
    old = AuditEntry("ann", "old", "shop", {"name": "Jane"}, comment="Jane")
    erased = StoredEntry.from_bytes(StoredEntry(old).to_bytes()).without_contents()
    topic = Topic()
    topic.values.append(old.to_bytes())
    topic.append(topic.begin())
    topic.values[0] = erased.to_bytes()
    assert b"Jane" not in topic.values[0]
    assert topic.verdict().problems == ()
    assert "1 entries without a chain were erased" in topic.verdict().notes[0]


@given(
    st.dictionaries(
        st.text(max_size=5),
        st.one_of(
            st.floats(allow_nan=False), st.integers(-(2**63), 2**63 - 1), st.text(), st.none()
        ),
        max_size=5,
    )
)
def test_the_digest_of_what_was_read_is_that_of_what_was_written(before: dict[str, object]) -> None:
    stored = Chain("ann", ()).next(AuditEntry("ann", "act", before=before))
    assert StoredEntry.from_bytes(stored.to_bytes()).reference == stored.reference
