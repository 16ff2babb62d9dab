"""Writes sentences about an erasure: its plan, its result and its limits."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final, NamedTuple

from relay.operations.erasure.plan import ErasureChoice, ErasurePlan, Matches, TopicFinding

_MOST_SPELLINGS: Final = 20
_STORES: Final = (
    "dead letters of {} are removed.",
    "values outside of Kafka of {} are deleted.",
    "entries of the audit trail lose their contents.",
)
_LAST_ROWS: Final = (
    "{}: for {} keys, the last message is not known to be a delete. If the source still has "
    "these rows, consumers lose them now, and the next change of a row publishes it again. "
    "Delete the rows on the source first, then search again. If the table has moved to another "
    "topic, erase them here."
)


class Switches(NamedTuple):
    """The names of the two choices of `ErasureChoice` in the command line or on the page that shows
    the sentences.
    """

    delete_records: str = "--delete-records"
    by_text: str = "--by-text"


OF_THE_COMMAND: Final = Switches()


def planned(
    plan: ErasurePlan, choice: ErasureChoice, switches: Switches = OF_THE_COMMAND
) -> list[str]:
    """Return the sentences about what was found, and what an erasure with this choice would do.
    `switches` names the two choices.
    """
    switch = switches.delete_records
    lines = [line for each in plan.topics for line in _topic(each, choice, switch)]
    lines += _counts(plan.chosen(choice))
    if not choice.delete_records:
        lines += [
            f"{len(paths)} values outside of Kafka of {name} stay with the records that point to "
            f"them."
            for name, paths in plan.of_records.claims.items()
        ]
    lines += _by_text(plan.by_text, choice, switches.by_text)
    lines += [
        f"{topic} is a topic of the relay, and {count} of its records contain a key or text. "
        "They are not changed. End the prepared transactions on the source, or wait until "
        "Kafka has compacted the topic."
        for topic, count in plan.internal.items()
    ]
    return [*lines, *plan.notes] or ["Nothing was found."]


def _counts(chosen: Matches) -> Iterator[str]:
    letters, values, entries = _STORES
    for name, ids in chosen.dead_letters.items():
        yield f"{len(ids)} {letters.format(name)}"
    for name, paths in chosen.claims.items():
        yield f"{len(paths)} {values.format(name)}"
    if chosen.audit_entries:
        yield f"{len(chosen.audit_entries)} {entries}"


def _by_text(found: Matches, choice: ErasureChoice, switch: str) -> Iterator[str]:
    """Yield each location that only contains a text, which may belong to another person."""
    places = [
        *(
            f"  dead letter {each} of {name}"
            for name in found.dead_letters
            for each in found.dead_letters[name]
        ),
        *(f"  value {each}" for paths in found.claims.values() for each in paths),
        *(f"  audit entry {each}" for each in found.audit_entries),
    ]
    if places:
        yield (
            "In these only a text was found, no key. They are erased too:"
            if choice.by_text
            else (
                f"In these only a text was found, no key. They stay; {switch} erases all of them:"
            )
        )
    yield from places


def erased(plan: ErasurePlan) -> list[str]:
    """Return the sentences about what an operator still has to do after an erasure."""
    lines = ["Done. Kafka removes the files of deleted records within minutes."]
    if any(each.compacted and each.records for each in plan.topics):
        lines.append("Compacted topics hold the values until Kafka has compacted them.")
    return [*lines, "Repeat the command with --preview until it finds nothing."]


def _topic(each: TopicFinding, choice: ErasureChoice, switch: str) -> Iterator[str]:
    if each.records and each.compacted:
        yield (
            f"{each.topic}: {each.records} records; {len(each.tombstones)} tombstones are written. "
            + (
                "Kafka compacts without a time limit: set max.compaction.lag.ms on the topic."
                if each.bound_ms is None
                else f"Kafka compacts after {timedelta(milliseconds=each.bound_ms)} at the latest."
            )
        )
    elif each.records and choice.delete_records:
        yield (
            f"{each.topic}: {each.records} records are deleted. Kafka deletes all "
            f"{each.neighbours} earlier offsets of their partitions with them, whatever their "
            "keys."
        )
    elif each.records:
        yield (
            f"{each.topic}: {each.records} records stay, because the topic is not compacted. "
            f"{switch} deletes them and {each.neighbours} offsets before them."
        )
    if each.rows and each.compacted:
        yield _LAST_ROWS.format(each.topic, each.rows)
    if each.alike:
        yield from _spellings(each)
    if each.others:
        yield (
            f"{each.topic}: {each.others} records with another key, or without a key, contain "
            "a key or text. They stay."
        )


def _spellings(each: TopicFinding) -> Iterator[str]:
    """Yield similar keys of a topic that the operator may have meant too."""
    yield (
        f"{each.topic}: {len(each.alike)} keys are another spelling of one of your keys. Their "
        "records stay. If they belong to the person, add these keys:"
    )
    yield from (f"  {key}" for key in each.alike[:_MOST_SPELLINGS])
    if len(each.alike) > _MOST_SPELLINGS:
        yield f"  and {len(each.alike) - _MOST_SPELLINGS} more"
