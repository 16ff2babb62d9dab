"""Describes the parts of a page that cannot be read now: which server does not answer, and what is
not shown.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from api.error_status import problem_of
from api.web.problem_words import remedy_of, title_of
from relay.errors import RelayError, Unreachable


class UnreadPart(NamedTuple):
    """The texts of a page about a server that did not answer.

    title     names the server, such as "Kafka does not answer"
    sentence  the reason, which names the address
    remedy    what the reader can do
    code      code of the error
    missing   the parts that are not shown for this reason; empty: the whole panel
    """

    title: str
    sentence: str
    remedy: str
    code: str
    missing: Sequence[str] = ()


class Part(NamedTuple):
    """A part of a page: the name of its value, words for a reader, and how it is read."""

    name: str
    words: str
    read: Callable[[], Any]


@dataclass(slots=True)
class PartsRead:
    """The parts of a page that could be read, and those that could not.

    values  name of a part → its value; parts that could not be read are left out
    unread  the texts about each error, in the order of the parts
    """

    values: dict[str, Any] = field(default_factory=dict)
    unread: list[UnreadPart] = field(default_factory=list)


def unread_part(error: RelayError, *missing: str) -> UnreadPart:
    """Return the texts about an error of a server; `missing` are the parts that are not shown
    because of it.
    """
    problem = problem_of(error)
    return UnreadPart(
        title_of(problem), problem.detail, remedy_of(problem), problem.code, tuple(missing)
    )


def read_parts(parts: Sequence[Part]) -> PartsRead:
    """Read each part; return the values that could be read, and texts about the errors of the
    others.

    After an error of a server that does not answer, no further part is read, because the page would
    wait for each.
    """
    found = PartsRead()
    errors: dict[tuple[str, str], tuple[RelayError, list[str]]] = {}
    away: RelayError | None = None
    for part in parts:
        try:
            if away is not None:
                raise away
            found.values[part.name] = part.read()
        except RelayError as error:
            away = error if isinstance(error, Unreachable) else away
            _, missing = errors.setdefault((error.code, error.reason), (error, []))
            missing.append(part.words)
    found.unread = [unread_part(error, *missing) for error, missing in errors.values()]
    return found
