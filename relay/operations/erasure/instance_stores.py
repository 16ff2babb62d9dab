"""Finds and removes a person's data in dead letters and in values outside of Kafka."""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from relay.claim_check import ClaimStore
from relay.dead_letters import DeadLetter, DeadLetterTopic, letters_prefix
from relay.kafka import RewriteTurn
from relay.operations.erasure.needles import Needles
from relay.operations.erasure.plan import Matches
from relay.settings import InstanceSettings, RelaySettings

_OF_KEYS: Final = "of keys"
_OF_RECORDS: Final = "of records"
_BY_TEXT: Final = "by text"


class InstanceStores:
    """The dead letters and claim-check stores of an installation's instances.

    `topics` are all topics of the cluster. `removed` are instances that are no longer defined and
    have dead letters; only these are searched.
    """

    def __init__(
        self,
        settings: RelaySettings,
        instances: Iterable[InstanceSettings],
        topics: Iterable[str],
        needles: Needles,
    ) -> None:
        self._settings = settings
        self._needles = needles
        self._instances = {each.name: each for each in instances}
        prefix = letters_prefix(settings.installation)
        found = {each.removeprefix(prefix) for each in topics if each.startswith(prefix)}
        self.removed = tuple(sorted(found - self._instances.keys()))

    @property
    def letter_topics(self) -> frozenset[str]:
        """The topics of dead letters that `find` searches."""
        return frozenset(self._letters(each).topic for each in (*self._instances, *self.removed))

    def find(
        self, erased: Collection[str], staying: Collection[str]
    ) -> tuple[Matches, Matches, Matches]:
        """Return what matches the search terms, in three groups.

        The first group is data that has one of the keys. The second is values to which remaining
        records point. The third is data that only contains a text.

        erased   URLs of values to which records in compacted topics point; they match a key
        staying  URLs of values to which records in topics without compaction point
        """
        letters = {each: self._found_letters(each) for each in (*self._instances, *self.removed)}
        values = {each: self._found_values(each, erased, staying) for each in self._instances}

        def matches(kind: str) -> Matches:
            return Matches(_of_kind(letters, kind), _of_kind(values, kind))

        return matches(_OF_KEYS), matches(_OF_RECORDS), matches(_BY_TEXT)

    def remove_values(self, chosen: Matches) -> None:
        """Delete the chosen values from the claim-check stores. Raises ClaimStoreUnreachable,
        ClaimStoreRefused.
        """
        for name, paths in chosen.claims.items():
            for path in paths:
                self._claims(self._instances[name]).remove(path)

    def remove_letters(self, chosen: Matches, turn: RewriteTurn) -> None:
        """Rewrite the dead letter topics without the chosen dead letters. Raises
        DeadLettersUnreadable.

        `turn` proves that this process may rewrite topics.
        """
        for name, ids in chosen.dead_letters.items():
            self._letters(name).remove(ids, turn)

    def _letters(self, instance: str) -> DeadLetterTopic:
        return DeadLetterTopic(self._settings.kafka, self._settings.installation, instance)

    def _claims(self, instance: InstanceSettings) -> ClaimStore:
        return ClaimStore(instance.claims, self._settings.installation, instance.name)

    def _found_letters(self, instance: str) -> list[tuple[str, str]]:
        kinds: list[str] = []

        def accepts(letter: DeadLetter) -> bool:
            kind = letter_kind(letter, self._needles)
            kinds.extend([kind] if kind else [])
            return bool(kind)

        found = self._letters(instance).matching(accepts)
        return [(kind, each.id) for kind, each in zip(kinds, found, strict=True)]

    def _found_values(
        self, name: str, erased: Collection[str], staying: Collection[str]
    ) -> list[tuple[str, str]]:
        instance = self._instances[name]
        if instance.claims.url is None:
            return []
        kinds: list[str] = []

        def accepts(url: str, value: bytes) -> bool:
            kind = value_kind(url, value, self._needles, erased, staying)
            kinds.extend([kind] if kind else [])
            return bool(kind)

        return list(zip(kinds, self._claims(instance).holding(accepts), strict=True))


def letter_kind(letter: DeadLetter, needles: Needles) -> str:
    """Return why a dead letter matches: because of a key, because of a text, or "" if it does not
    match.

    It matches because of a key if the key of its row is one of the searched keys, or if another
    part of it contains a searched key. Otherwise it matches because of a text if a part of it
    contains a searched text, or if the key of its row is a searched key in another spelling.
    """
    message = letter.message
    parts = (message.key, message.value, letter.reason.encode(), *(v for _, v in message.headers))
    if message.key in needles.keys or needles.key_in_any(*parts):
        return _OF_KEYS
    return _BY_TEXT if needles.in_any(*parts) or needles.is_alike(message.key) else ""


def value_kind(
    url: str, value: bytes, needles: Needles, erased: Collection[str], staying: Collection[str]
) -> str:
    """Return to which group of `InstanceStores.find` a stored value belongs; "" if it does not
    match.

    `url` is where it is stored. `erased` and `staying` are described at `InstanceStores.find`. A
    value whose URL is in both belongs to the group of values to which remaining records point.
    """
    if url in staying:
        return _OF_RECORDS
    if url in erased:
        return _OF_KEYS
    return _BY_TEXT if needles.in_any(value) else ""


def _of_kind(found: Mapping[str, list[tuple[str, str]]], kind: str) -> dict[str, tuple[str, ...]]:
    """Return the names of one kind by instance, without instances that have none."""
    of_kind = {
        name: tuple(dict.fromkeys(each for of, each in pairs if of == kind))
        for name, pairs in found.items()
    }
    return {name: names for name, names in of_kind.items() if names}
