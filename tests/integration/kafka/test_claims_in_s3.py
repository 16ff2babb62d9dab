"""Claims in an object store that speaks S3 over HTTP."""

from collections.abc import Iterator

import fsspec
import pytest
from moto.server import ThreadedMotoServer

from relay.claim_check import ClaimStore
from relay.envelope import Claim, checked_claim
from relay.errors import ClaimStoreRefused, ClaimStoreUnreachable
from relay.model.table import TableId
from relay.settings import ClaimSettings

TABLE = TableId("shop", "a/b")
KEYS = {"key": "relay", "secret": "of the relay"}


@pytest.fixture
def s3() -> Iterator[ThreadedMotoServer]:
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def address(server: ThreadedMotoServer) -> str:
    host, port = server.get_host_and_port()
    return f"http://{host}:{port}"


def store(server: ThreadedMotoServer, bucket: str) -> ClaimStore:
    settings = ClaimSettings.model_validate(
        {
            "url": f"s3://{bucket}/claims",
            "options": {"endpoint_url": address(server)},
            "secrets": KEYS,
        }
    )
    return ClaimStore(settings, "roma", "shop")


def make_bucket(server: ThreadedMotoServer, name: str) -> None:
    fsspec.filesystem("s3", endpoint_url=address(server), **KEYS).mkdir(name)


def read(server: ThreadedMotoServer, claim: Claim) -> bytes:
    """As a consumer does: behind the URL, and checked."""
    files, path = fsspec.url_to_fs(claim.url, endpoint_url=address(server), **KEYS)
    return checked_claim(claim, files.cat_file(path))


def test_a_value_is_found_behind_its_claim(s3: ThreadedMotoServer) -> None:
    make_bucket(s3, "rows")
    claims = store(s3, "rows")
    value = b"value" * 1_000_000
    claim = claims.put(TABLE, 42, value)
    assert claim.url.startswith("s3://rows/claims/roma/shop/shop.a%2Fb/0000000000000000042-")
    assert (read(s3, claim), claims.put(TABLE, 42, value)) == (value, claim)


def test_a_bucket_that_is_not_there_is_a_named_refusal(s3: ThreadedMotoServer) -> None:
    with pytest.raises(ClaimStoreRefused, match="bucket does not exist"):
        store(s3, "nowhere").put(TABLE, 42, b"value")


def test_looking_finds_what_putting_would(s3: ThreadedMotoServer) -> None:
    make_bucket(s3, "rows-to-come")
    store(s3, "rows-to-come").check_access()
    with pytest.raises(ClaimStoreRefused, match="nowhere does not exist"):
        store(s3, "nowhere").check_access()


def test_a_store_that_does_not_answer_is_waited_for(
    s3: ThreadedMotoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fsspec.get_filesystem_class("s3"), "retries", 1)
    make_bucket(s3, "rows-away")
    claims = store(s3, "rows-away")
    s3.stop()
    with pytest.raises(ClaimStoreUnreachable, match="endpoint"):
        claims.put(TABLE, 42, b"value")
