"""Filters the lists that the REST service returns, divides them into pages, and returns their last
readings while a server does not answer.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, TypeAlias, TypeVar

from fastapi import Depends, Query, Response
from pydantic import BaseModel

from api.readings import Reading

TOTAL: Final = "X-Total-Count"
"""The header with the number of entries after the filter, on all pages together."""
_MOST: Final = 10_000
READ_MS: Final = "X-Read-Ms"
"""The header with the time of the reading in Unix milliseconds, if the caller accepts old ones."""
READ_ERROR: Final = "X-Read-Error"
"""The header with the code of the error because of which the answer is old."""
Entry = TypeVar("Entry", bound=BaseModel)
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Listing:
    """The part of a list that a request selects.

    words   words that an entry must contain, in any of its values
    limit   largest number of returned entries
    offset  number of matching entries to skip
    """

    words: tuple[str, ...]
    limit: int
    offset: int
    _response: Response

    def of(self, entries: Sequence[Entry]) -> list[Entry]:
        """Return the selected entries, and set the header `X-Total-Count` to the number of matching
        ones.

        The filter reads only values that the answer contains, so a caller cannot guess hidden
        values.
        """
        found = [each for each in entries if self._accepts(each)] if self.words else entries
        self.note_total(len(found))
        return list(found[self.offset : self.offset + self.limit])

    def note_total(self, entries: int) -> None:
        """Set the header `X-Total-Count`, the number of entries that match the filter."""
        self._response.headers[TOTAL] = str(entries)

    def _accepts(self, entry: BaseModel) -> bool:
        text = " ".join(_texts(entry.model_dump(mode="json"))).lower()
        return all(word in text for word in self.words)


def _listing(
    response: Response,
    words: Annotated[
        str,
        Query(
            alias="filter", max_length=300, description="Words that an entry's values must contain."
        ),
    ] = "",
    limit: Annotated[int, Query(ge=1, le=_MOST, description="Largest number of entries.")] = _MOST,
    offset: Annotated[int, Query(ge=0, le=2**31, description="Number of entries to skip.")] = 0,
) -> Listing:
    return Listing(tuple(words.lower().split()), limit, offset, response)


ListingDep: TypeAlias = Annotated[Listing, Depends(_listing)]
"""Query parameters `filter`, `limit` and `offset` of a list."""


@dataclass(frozen=True, slots=True)
class LastRead:
    """Says whether a request accepts the last reading while a server does not answer (`wanted`)."""

    wanted: bool
    _response: Response

    def of(self, reading: Reading[Value]) -> Value:
        """Return the value of a reading, and set headers with the reading's time and error.

        Raises the error of an old reading that the request does not accept.
        """
        if reading.error is not None and not self.wanted:
            raise reading.error
        if self.wanted:
            self._response.headers[READ_MS] = str(reading.read_ms)
        if reading.error is not None:
            self._response.headers[READ_ERROR] = reading.error.code
        return reading.value


def _last_read(
    response: Response,
    last: Annotated[
        bool,
        Query(
            description="While a server does not answer, return what was read last. The header "
            "X-Read-Ms has its time, X-Read-Error the code of the error."
        ),
    ] = False,
) -> LastRead:
    return LastRead(last, response)


LastReadDep: TypeAlias = Annotated[LastRead, Depends(_last_read)]
"""Query parameter `last` of a list that a page shows also while its server does not answer."""


def _texts(value: object) -> Iterator[str]:
    match value:
        case Mapping():
            for each in value.values():
                yield from _texts(each)
        case list():
            for each in value:
                yield from _texts(each)
        case None:
            return
        case _:
            yield str(value)
