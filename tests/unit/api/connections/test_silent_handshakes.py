"""Clients that connect and begin no TLS handshake, or half of one, over real sockets."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack
from ipaddress import ip_address
from pathlib import Path
from time import monotonic

import httpx
import pytest
from cryptography import x509

from api.middleware import connections
from tests.support.certificates import Authority
from tests.support.relays.admin_server import admin_settings, serving

_SILENT = 100


@pytest.fixture(scope="module")
def admin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder: Path = tmp_path_factory.mktemp("tls")
    name = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    authority = Authority(folder)
    cert, key = authority.issue("admin", name)
    api = {"port": 0, "token": "t", "tls": {"cert": str(cert), "key": str(key)}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connections, "HANDSHAKE_SECONDS", 1.0)
        with serving(admin_settings("127.0.0.1:1", "none", api=api)) as server:
            context = ssl.create_default_context(cafile=str(authority.file))
            with httpx.Client(base_url=server.url, verify=context, trust_env=False) as client:
                yield client


def hello() -> bytes:
    """The first message of a handshake."""
    context = ssl.create_default_context()
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing, server_hostname="admin").do_handshake()
    return outgoing.read()


@pytest.mark.parametrize("sent", [b"", hello()[:20]], ids=["nothing", "half a greeting"])
def test_a_handshake_that_does_not_end_is_closed(admin: httpx.Client, sent: bytes) -> None:
    port = admin.base_url.port
    assert port is not None
    start = monotonic()
    with ExitStack() as stack:
        silent = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            for _ in range(_SILENT)
        ]
        for each in silent:
            each.sendall(sent)
        assert admin.get("/healthz").status_code == 200
        for each in silent:
            try:
                assert each.recv(1) == b""
            except ConnectionError:
                continue
    assert monotonic() - start >= 0.9
    assert admin.get("/healthz").status_code == 200
