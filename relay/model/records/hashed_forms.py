"""The forms in which keys of a table were hashed for their partitions. Pure.

A partition is chosen by the hash of Canal's text of the key. Canal reads every text as UTF-8, so
the hash of an equal key changes when the type or character set of its column changes. A form is a
short text that describes this for all columns of a key: keys of one form, or of forms that
`admitted` accepts together, keep their partitions. An operator must accept any other change
explicitly.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

Forms: TypeAlias = tuple[str, ...]
"""The forms that the keys of one table have had in a topic."""

HashedForms: TypeAlias = Mapping[str, Mapping[str, Forms]]
"""Topic → logical table → the forms that its keys have had there."""

PLAIN: Final = "-"
"""The form of a key column whose hashed text equals its text in the message key and is always
ASCII: numbers and times.
"""

ASCII: Final = "ascii"
"""The form of a column of ASCII texts: its hashed text also equals its text in the message key."""

ONE_MORE: Final = "?"
"""An entry in a list of forms that stands for one further form, which an operator accepted before a
row has it.
"""

_HASHED_OTHERWISE: Final = frozenset(
    {"float", "double", "binary", "varbinary", "ucs2", "utf16", "utf16le", "utf32"}
)
"""Forms in which an ASCII text has another hash than an equal text of the form PLAIN."""
_NO_TEXTS: Final = frozenset({"decimal", "zerofill", "uuid", "inet4", "inet6", "swe7"})
"""Forms in which a text has another hash than an equal text of the form ASCII."""
_NUMBERED: Final = ("enum:", "set:")
_BYTES: Final = "bytes of "


def forms_of(fields: Mapping[str, Mapping[str, list[str]]]) -> HashedForms:
    """Return the forms that a position record contains, from its JSON fields."""
    return {
        topic: {table: tuple(forms) for table, forms in tables.items()}
        for topic, tables in fields.items()
    }


def admitted(known: Forms, form: str) -> Forms | None:
    """Return the forms of a table after rows of `form` were added; None if equal keys would change
    their partition.

    A table without forms accepts any first form. Forms of keys with different numbers of columns do
    not conflict, because such keys are never equal.
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
    """Return the forms of several tables together, after rows of `form` were added. No two of the
    tables have equal keys.

    `accepted`: an operator accepted this form in advance. A first form that is plain is not
    recorded.
    """
    before = tuple(each for each in known if not accepted or each != ONE_MORE)
    if has_form(before, form):
        return admitted(before, form) or before
    return before if not known and is_plain(form) else (*before, form)


def agreed(topic: Forms, own: Forms, form: str) -> Forms | None:
    """Return the forms of a table in a topic after an instance publishes rows of `form`.

    topic  the forms of all instances that ever published to the topic
    own    the forms that this instance has published, or that an operator accepted for it

    None if equal keys of two instances would have two partitions, and no operator accepted that.
    """
    if (forms := admitted(topic, form)) is not None:
        return forms
    accepted = all(has_form(own, each) for each in differing(topic, form))
    return (*topic, form) if accepted else None


def has_form(forms: Forms, form: str) -> bool:
    """Return whether keys of `form` have the same partitions as keys of one of `forms`."""
    return any(_same(each, form) for each in forms)


def differing(topic: Forms, form: str) -> Forms:
    """Return the forms of a topic whose keys may equal keys of `form` and have other partitions."""
    return tuple(each for each in topic if _comparable(each, form) and not _same(each, form))


def is_plain(form: str) -> bool:
    """Return whether all columns of a key have the form PLAIN: numbers and times."""
    return all(each == PLAIN for each in form.split(","))


def _comparable(known: str, form: str) -> bool:
    """Return whether two rows with these forms may have equal keys."""
    if known == ONE_MORE:
        return False
    if known.startswith("=") or form.startswith("="):
        return True
    return known.count(",") == form.count(",")


def _same(known: str, form: str) -> bool:
    """Return whether equal keys have equal hashes in both forms."""
    if known == form:
        return True
    if ONE_MORE in (known, form) or known.startswith("=") or form.startswith("="):
        return False
    parts, others = known.split(","), form.split(",")
    return len(parts) == len(others) and all(map(_same_column, parts, others))


def _merged(known: str, form: str) -> str:
    """Return the form that replaces both. It conflicts with every form with which one of them
    conflicts.

    Of two ENUM forms it is the one with more labels. A character set is stricter than ASCII, and
    ASCII is stricter than PLAIN.
    """
    if known == form:
        return known
    pairs = zip(known.split(","), form.split(","), strict=True)
    return ",".join(max(pair, key=_strictness) for pair in pairs)


def _strictness(form: str) -> tuple[int, int]:
    """Sort key of a column's forms with equal hashes: the greatest one replaces the others."""
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
    # Appended labels do not change the numbers of the others.
    return one.startswith(_NUMBERED) and (one.startswith(other) or other.startswith(one))


def _keeps_digits(form: str) -> bool:
    """Return whether a text of this form has the hash of an equal text of the form PLAIN."""
    return form not in _HASHED_OTHERWISE and not form.startswith((*_NUMBERED, _BYTES))
