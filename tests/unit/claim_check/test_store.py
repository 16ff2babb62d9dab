"""Values lie under names that say what they are, whole, and never change."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

from relay.claim_check import ClaimStore
from relay.envelope import Claim, checked_claim
from relay.errors import ClaimStoreRefused, ClaimStoreUnreachable, ConfigurationError
from relay.model.table import TableId
from relay.settings import ClaimSettings

TABLE = TableId("shop", "a/b")


def read(claim: Claim) -> bytes:
    """As a consumer does: behind the URL, and checked."""
    files, path = fsspec.url_to_fs(claim.url)
    return checked_claim(claim, files.cat_file(path))


@pytest.fixture
def memory() -> Iterator[str]:
    yield "memory://claims"
    files: Any = fsspec.url_to_fs("memory://claims")[0]
    files.store.clear()


def test_a_value_is_found_behind_its_claim_in_a_folder(tmp_path: Path) -> None:
    claim = ClaimStore(ClaimSettings(url=str(tmp_path)), "roma", "shop").put(TABLE, 42, b"value")
    assert claim.url.startswith(f"file://{tmp_path}/roma/shop/shop.a%2Fb/0000000000000000042-")
    assert read(claim) == b"value"
    assert not list(tmp_path.rglob("*.part"))


def test_tables_with_long_names_have_folders_of_their_own(tmp_path: Path) -> None:
    store = ClaimStore(ClaimSettings(url=str(tmp_path)), "roma", "shop")
    claims = [store.put(TableId("订" * 64, "单" * 63 + end), 42, b"value") for end in "ab"]
    assert claims[0].url != claims[1].url
    assert [read(claim) for claim in claims] == [b"value"] * 2


def test_a_value_is_found_behind_its_claim_in_an_object_store(memory: str) -> None:
    store = ClaimStore(ClaimSettings(url=memory), "roma", "shop")
    claim = store.put(TABLE, 42, b"value")
    assert (read(claim), store.put(TABLE, 42, b"value")) == (b"value", claim)


def test_another_attempt_at_the_same_change_leaves_the_first_value_alone(tmp_path: Path) -> None:
    store = ClaimStore(ClaimSettings(url=str(tmp_path)), "roma", "shop")
    first, second = store.put(TABLE, 42, b'{"ts":1}'), store.put(TABLE, 42, b'{"ts":2}')
    assert (read(first), read(second)) == (b'{"ts":1}', b'{"ts":2}')


def test_a_value_that_was_cut_short_is_written_again(tmp_path: Path) -> None:
    store = ClaimStore(ClaimSettings(url=str(tmp_path)), "roma", "shop")
    claim = store.put(TABLE, 42, b"value")
    path = Path(claim.url.removeprefix("file://"))
    path.write_bytes(b"val")
    assert store.put(TABLE, 42, b"value") == claim
    assert path.read_bytes() == b"value"


def test_what_was_changed_behind_a_claim_is_found_out(tmp_path: Path) -> None:
    claim = ClaimStore(ClaimSettings(url=str(tmp_path)), "roma", "shop").put(TABLE, 42, b"value")
    Path(claim.url.removeprefix("file://")).write_bytes(b"valuE")
    with pytest.raises(ValueError, match="is not the one of 5 bytes"):
        read(claim)


def test_a_file_in_the_way_is_a_named_refusal(tmp_path: Path) -> None:
    (tmp_path / "roma").write_text("in the way")
    with pytest.raises(ClaimStoreRefused, match="roma"):
        ClaimStore(ClaimSettings(url=str(tmp_path)), "roma", "shop").put(TABLE, 42, b"value")


def test_a_store_that_breaks_off_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ClaimStoreUnreachable, match="No space left"):
        ClaimStore(ClaimSettings(url=str(tmp_path)), "roma", "shop").put(TABLE, 42, b"value")
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize("url", ["nosuchthing://bucket/x", "abfs://bucket/x"])
def test_a_file_system_that_is_not_at_hand_is_a_wrong_configuration(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"claims\.url"):
        ClaimStore(ClaimSettings(url=url), "roma", "shop")
