"""Checks, saves and shows the documents of instances that are defined at run time."""

import json
from collections.abc import Mapping
from typing import Any, Final

from api.entity_tag import Precondition
from api.errors import BodyTooLarge, DefinedInFile, InstanceRefused
from relay.audit import AuditEntry, DelayedTrail
from relay.errors import ConfigurationError, NodeMissing
from relay.settings import RelaySettings, RunTimeVariables, instance_settings
from relay.state import (
    MASK,
    SAVE_LIMIT_BYTES,
    InstanceDocument,
    InstanceDocumentStore,
    Note,
    TopicAgreementStore,
    masked,
    with_secrets_of,
)

_ENTRY_CHARACTERS: Final = 20_000
_MOST_NAMES: Final = 100
_DIGITS: Final = 18


class InstanceDesk:
    """Saves, shows and removes documents; relays apply them within one or two seconds."""

    def __init__(
        self,
        store: InstanceDocumentStore,
        agreements: TopicAgreementStore,
        settings: RelaySettings,
        acts: DelayedTrail,
    ) -> None:
        self._store = store
        self._agreements = agreements
        self._acts = acts
        self._of_file = frozenset(each.name for each in settings.instances)
        self._variables = settings.secrets.of_documents(resolved=False)

    def read(self, name: str) -> InstanceDocument:
        """Return the document of an instance. Raises NodeMissing if the instance has none."""
        found = self._store.find(name)
        if found is None:
            where = (
                "is defined in the configuration file"
                if name in self._of_file
                else "was not defined at run time"
            )
            raise NodeMissing(f"Instance {name} {where}.")
        return found

    def save(
        self, name: str, fields: Mapping[str, Any], precondition: Precondition, note: Note
    ) -> tuple[InstanceDocument, bool]:
        """Add or replace the document of an instance.

        name          name of the instance
        fields        the new document
        precondition  the state of the present document that the client expects (If-Match)
        note          author and comment

        Returns the document, and True if it was added.

        Raises DefinedInFile, InstanceRefused, BodyTooLarge, NodeMissing, VersionConflict, and
        PreconditionRequired or PreconditionFailed from `Precondition.check`.
        """
        if name in self._of_file:
            raise DefinedInFile(f"Instance {name} is defined in the configuration file.")
        stored = self._store.find(name)
        precondition.check(stored.state if stored else "", exists=stored is not None)
        whole = with_secrets_of(
            stored.fields if stored is not None else {},
            {**fields, "name": fields.get("name", name)},
        )
        _check(name, whole, self._variables)
        _check_size(whole)
        if stored is not None:
            self._refuse_mixed(name, stored.fields, whole)
        saved = self._store.save(name, whole, stored)
        self._note(
            "instance.saved",
            name,
            *_changed(stored.fields if stored is not None else {}, whole),
            note,
        )
        return saved, stored is None

    def _refuse_mixed(self, name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        """Raise InstanceRefused if a topic with messages of the instance gets another format."""
        try:
            old, new = (
                instance_settings(each, f"Instance {name}", self._variables)
                for each in (before, after)
            )
        except ConfigurationError:
            return  # the former document is unreadable: the relay compares with its record
        for topic in self._agreements.topics():
            if old.format_of(topic) == new.format_of(topic):
                continue
            feeder = self._agreements.read(topic).feeders.get(name)
            if feeder is not None and feeder.joined and feeder.format == old.format_of(topic):
                raise InstanceRefused(
                    f"Topic {topic} has messages of {name} as {feeder.format}, and the new "
                    f"settings choose {new.format_of(topic)}: the instance would stop "
                    "(FORMAT_CHANGED).",
                    remedy=(
                        "Map the tables of the instance to a new topic first, and set the "
                        "format for that topic."
                    ),
                )

    def remove(self, name: str, precondition: Precondition, note: Note) -> None:
        """Remove the document of an instance. Relays end the instance at a transaction boundary.

        The instance's position stays in Kafka. Raises NodeMissing if there is no document,
        VersionConflict, and PreconditionRequired or PreconditionFailed from `Precondition.check`.
        """
        stored = self.read(name)
        precondition.check(stored.state, exists=True)
        self._store.remove(stored)
        self._note("instance.removed", name, *_changed(stored.fields, {}), note)

    def _note(
        self, act: str, name: str, before: Mapping[str, Any], after: Mapping[str, Any], note: Note
    ) -> None:
        self._acts.note(AuditEntry(note.author, act, name, before, after, note.comment))


def _changed(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the top-level fields that differ, without their secrets.

    Of very large ones the names alone.
    """
    names = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    old, new = (
        masked({name: fields[name] for name in names if name in fields})
        for fields in (before, after)
    )
    text = json.dumps([old, new])
    if len(text) > _ENTRY_CHARACTERS:
        return {}, {"changed": names[:_MOST_NAMES]}
    old, new = json.loads(text, parse_int=_number)  # an entry holds 64 bits
    return old, new


def _number(text: str) -> int | str:
    return int(text) if len(text) <= _DIGITS else text


def _check(name: str, fields: Mapping[str, Any], variables: RunTimeVariables) -> None:
    if MASK in json.dumps(fields):
        raise InstanceRefused(
            (
                f"The document contains the masked secret {MASK}, and no secret is stored for this "
                "destination."
            ),
            remedy="Write the secret itself. A stored secret is reused only while host, port, "
            "user and TLS settings of every server are unchanged, and for the claim check "
            "while its url, options and secrets are unchanged.",
        )
    try:
        found = instance_settings(fields, f"Instance {name}", variables)
    except ConfigurationError as exc:
        raise InstanceRefused(exc.reason) from exc
    if found.name != name:
        raise InstanceRefused(
            f"The document has the name {found.name!r}, and the request's URL has the name "
            f"{name!r}. Both must be the same."
        )


def _check_size(fields: Mapping[str, Any]) -> None:
    size = len(json.dumps(fields, ensure_ascii=False, indent=2).encode())
    if size > SAVE_LIMIT_BYTES:
        reason = (
            f"The settings have {size} bytes, and ZooKeeper accepts at most {SAVE_LIMIT_BYTES} "
            "in one request."
        )
        raise BodyTooLarge(reason, remedy="Name tables by patterns instead of one by one.")
