"""TLS handshakes in memory, between the relay's client side and a server side that a test
describes.
"""

import ssl
import warnings
from pathlib import Path
from typing import Final

_ROUNDS: Final = 10


def server_side(
    certificate: tuple[Path, Path],
    *,
    newest: ssl.TLSVersion = ssl.TLSVersion.TLSv1_2,
    ciphers: str = "ALL",
) -> ssl.SSLContext:
    """Return a server's context that speaks any TLS up to `newest` and takes the weakest keys."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers(f"{ciphers}:@SECLEVEL=0")
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # it is about the versions that a test is about
        context.maximum_version = newest
    context.load_cert_chain(*certificate)
    return context


def shake_hands(client: ssl.SSLContext, server: ssl.SSLContext) -> str:
    """Return the TLS version that both agree on.

    Raises the client's ssl.SSLError where they do not agree.
    """
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours, theirs = (
        client.wrap_bio(to_client, to_server),
        server.wrap_bio(to_server, to_client, server_side=True),
    )
    for _ in range(_ROUNDS):
        finished = _advance(ours)
        try:
            if _advance(theirs) and finished:
                return ours.version() or ""
        except ssl.SSLError:
            continue  # the client reads the server's alert in the next round
    raise AssertionError("the handshake does not end")


def _advance(side: ssl.SSLObject) -> bool:
    try:
        side.do_handshake()
    except ssl.SSLWantReadError:
        return False
    return True
