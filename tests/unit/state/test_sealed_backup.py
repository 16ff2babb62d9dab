"""A sealed backup opens with its passphrase alone, and gives back every byte."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.errors import BackupRefused
from relay.state import Backup
from relay.state.sealed_backup import seal, unseal

PASSPHRASE = "correct horse battery"
BACKUP = Backup("prod", 1_700_000_000_000, {"accounts": b'{"hash":"$argon2"}', "a/b": b"\x00\xff"})


@settings(max_examples=5, deadline=None)
@given(st.dictionaries(st.sampled_from(["a", "a/b", "mappings/pointer"]), st.binary()))
def test_every_byte_comes_back(nodes: dict[str, bytes]) -> None:
    backup = Backup("prod", 7, nodes)
    assert unseal(seal(backup, PASSPHRASE), PASSPHRASE) == backup


def test_the_file_says_whose_it_is_and_hides_the_documents() -> None:
    text = seal(BACKUP, PASSPHRASE)
    head = json.loads(text)
    assert (head["installation"], head["made_ms"]) == ("prod", 1_700_000_000_000)
    assert "argon2" not in text
    assert "accounts" not in text
    assert seal(BACKUP, PASSPHRASE) != text


@pytest.mark.parametrize("passphrase", ["", "correct horse batterz"])
def test_another_passphrase_opens_nothing(passphrase: str) -> None:
    with pytest.raises(BackupRefused, match="passphrase is wrong"):
        unseal(seal(BACKUP, PASSPHRASE), passphrase)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda head: {**head, "installation": "other"}, "file was changed"),
        (lambda head: {**head, "made_ms": 1}, "file was changed"),
        (lambda head: {**head, "format": 99}, "has format 99"),
        (lambda head: {**head, "kind": "mappings"}, "not a sealed backup"),
        (lambda head: {**head, "salt": ""}, "file was changed"),
        (lambda head: {**head, "nonce": None}, "not a sealed backup"),
        (lambda _: [1], "not a sealed backup"),
    ],
)
def test_a_changed_file_is_refused(change: Callable[[Any], Any], told: str) -> None:
    text = json.dumps(change(json.loads(seal(BACKUP, PASSPHRASE))))
    with pytest.raises(BackupRefused, match=told):
        unseal(text, PASSPHRASE)


def test_no_file_and_a_short_passphrase_are_refused() -> None:
    with pytest.raises(BackupRefused, match="not a sealed backup"):
        unseal("not JSON", PASSPHRASE)
    with pytest.raises(BackupRefused, match="fewer than 12 characters"):
        seal(BACKUP, "eleven char")
