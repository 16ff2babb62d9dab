"""The forms in which the keys of a table were hashed for their partition, and whether another form
keeps equal keys where they are.

Pure.

A partition is chosen by the hash of Canal's text. Canal reads every text as UTF-8, so the same key
has another hash when its column gets another character set. An operator accepts such a change
explicitly.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

Forms: TypeAlias = tuple[str, ...]
"""The forms that the keys of one table have in a topic."""

HashedForms: TypeAlias = Mapping[str, Mapping[str, Forms]]
"""Topic → logical table → the forms that its keys have there."""

PLAIN: Final = "-"
"""The form of a key column whose hashed text is its text in the message key, in ASCII alone:
numbers and times.
"""

ASCII: Final = "ascii"
"""The form of a text in ASCII: its hashed text is its text in the message key, too."""

ONE_MORE: Final = "?"
"""Placeholder in a list of forms, for one that an operator accepts before a row has it."""

_HASHED_OTHERWISE: Final = frozenset(
    {"float", "double", "binary", "varbinary", "ucs2", "utf16", "utf16le", "utf32"}
)
"""Forms in which an ASCII text is hashed otherwise than a PLAIN one."""
_NO_TEXTS: Final = frozenset({"decimal", "zerofill", "uuid", "inet4", "inet6", "swe7"})
"""Forms in which equal texts of the message key are hashed otherwise than an ASCII column's."""
_NUMBERED: Final = ("enum:", "set:")
_BYTES: Final = "bytes of "


def forms_of(fields: Mapping[str, Mapping[str, list[str]]]) -> HashedForms:
    """Return the forms that a position record holds as JSON."""
    return {
        topic: {table: tuple(forms) for table, forms in tables.items()}
        for topic, tables in fields.items()
    }


def admitted(known: Forms, form: str) -> Forms | None:
    """Return the forms of a table's rows once rows of `form` follow; None if keys would move.

    A table without known forms accepts any first one. Two forms of keys with different numbers
    of columns do not conflict, because such keys are never equal.
    """
    for at, each in enumerate(known):
        if _same(each, form):
            return (*known[:at], _merged(each, form), *known[at + 1 :])
    if not any(_comparable(each, form) for each in known):
        return (*known, form)
    if ONE_MORE not in known:
        return None
    at = known.index(ONE_MORE)
    return (*known[:at], form, *known[at + 1 :])


def joined(known: Forms, form: str, *, accepted: bool) -> Forms:
    """Return the forms of the rows of several tables whose keys never meet, once rows of `form`
    follow.

    `accepted`: an operator accepted this form, in advance. A first form that is plain is left out.
    """
    before = tuple(each for each in known if not accepted or each != ONE_MORE)
    if has_form(before, form):
        return admitted(before, form) or before
    return before if not known and is_plain(form) else (*before, form)


def agreed(topic: Forms, own: Forms, form: str) -> Forms | None:
    """Return the forms of a table's rows in a topic once an instance publishes rows of `form`.

    `topic` are those of all instances that ever fed it, `own` those that this instance has
    published or that an operator accepted for it. None: equal keys of two instances would have two
    partitions, and no operator accepted that.
    """
    if (forms := admitted(topic, form)) is not None:
        return forms
    accepted = all(has_form(own, each) for each in differing(topic, form))
    return (*topic, form) if accepted else None


def has_form(forms: Forms, form: str) -> bool:
    """Return whether rows of `form` are placed as those of one of `forms`."""
    return any(_same(each, form) for each in forms)


def differing(topic: Forms, form: str) -> Forms:
    """Return the forms of a topic that place equal keys otherwise than `form` does."""
    return tuple(each for each in topic if _comparable(each, form) and not _same(each, form))


def is_plain(form: str) -> bool:
    """Return whether all columns of a key are PLAIN: numbers and times."""
    return all(each == PLAIN for each in form.split(","))


def _comparable(known: str, form: str) -> bool:
    """Whether rows of both forms may have one key."""
    if known == ONE_MORE:
        return False
    if known.startswith("=") or form.startswith("="):
        return True
    return known.count(",") == form.count(",")


def _same(known: str, form: str) -> bool:
    """Whether equal keys have equal hashes in both forms."""
    if known == form:
        return True
    if ONE_MORE in (known, form) or known.startswith("=") or form.startswith("="):
        return False
    parts, others = known.split(","), form.split(",")
    return len(parts) == len(others) and all(map(_same_column, parts, others))


def _merged(known: str, form: str) -> str:
    """The form of which each column differs from all forms that either one differs from.

    Of an ENUM that got labels it is the longer list. A character set counts more than ASCII, which
    has the hashes of most of them, and ASCII more than PLAIN.
    """
    if known == form:
        return known
    pairs = zip(known.split(","), form.split(","), strict=True)
    return ",".join(max(pair, key=_strictness) for pair in pairs)


def _strictness(form: str) -> tuple[int, int]:
    """Of two forms that place equal keys alike, the one with more stands for both."""
    rank = {PLAIN: 0, ASCII: 1}.get(form, 2)
    return rank, len(form)


def _same_column(one: str, other: str) -> bool:
    if one == other:
        return True
    if PLAIN in (one, other):
        return _keeps_digits(other if one == PLAIN else one)
    if ASCII in (one, other):
        of = other if one == ASCII else one
        return _keeps_digits(of) and of not in _NO_TEXTS
    # Labels that are appended leave the numbers of the others.
    return one.startswith(_NUMBERED) and (one.startswith(other) or other.startswith(one))


def _keeps_digits(form: str) -> bool:
    """Whether a text that is equal to a PLAIN one is hashed as that."""
    return form not in _HASHED_OTHERWISE and not form.startswith((*_NUMBERED, _BYTES))
