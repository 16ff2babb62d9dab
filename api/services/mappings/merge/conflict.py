"""Describes a conflict, for the answer to a save that came too late: what another user has saved
since the edit began, and the edit itself.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from api.entity_tag import Precondition
from api.errors import PreconditionFailed
from api.services.mappings.merge.text_diff import document_diffs
from relay.errors import RelayError, VersionConflict
from relay.state import SetRecord, StoredSet

_NUMBER: Final = re.compile(r"[0-9]{1,9}")


class MappingConflict(PreconditionFailed):
    """Another user saved mappings since the edit began; nothing was saved.

    record  the active set
    theirs  dataId → what others have changed since the edit began, as lines with + and -
    mine    dataId → what the refused edit changes, in the same form
    """

    def __init__(
        self, reason: str, record: SetRecord, theirs: Mapping[str, str], mine: Mapping[str, str]
    ) -> None:
        super().__init__(reason)
        self.record = record
        self.theirs = theirs
        self.mine = mine


class Conflicts:
    """Finds out, after a save that came too late, what another user has saved meanwhile.

    present  returns the active set
    load     returns the set of a number
    """

    def __init__(self, present: Callable[[], StoredSet], load: Callable[[int], StoredSet]) -> None:
        self._present = present
        self._load = load

    @contextmanager
    def named(
        self, known: Precondition, edit: Callable[[StoredSet], Mapping[str, str]]
    ) -> Iterator[None]:
        """Context manager: raise MappingConflict for a save that came too late.

        known  the state of the mappings at which the edit began
        edit   returns the documents of the edit, made from the set at which it began

        If that set or the active set cannot be read, the error of the save is raised.
        """
        try:
            yield
        except (PreconditionFailed, VersionConflict) as late:
            found = self._conflict(late, known, edit)
            if found is None:
                raise
            raise found from late

    def _conflict(
        self,
        late: RelayError,
        known: Precondition,
        edit: Callable[[StoredSet], Mapping[str, str]],
    ) -> MappingConflict | None:
        try:
            began, present = self._began(known), self._present()
        except RelayError:
            return None
        if began is None or not present.number:
            return None
        theirs, mine = _texts(began.bodies, present.bodies), _texts(began.bodies, edit(began))
        return MappingConflict(late.reason, present.record, theirs, mine)

    def _began(self, known: Precondition) -> StoredSet | None:
        """Return the set with which an edit began; None if the request does not name one."""
        if known.if_match is None:
            return StoredSet.empty()
        numbers = [each for each in known.if_match.tags if _NUMBER.fullmatch(each)]
        if len(numbers) != 1:
            return None
        return self._load(int(numbers[0])) if int(numbers[0]) else StoredSet.empty()


def _texts(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    return {each.data_id: each.text for each in document_diffs(before, after)}
