"""The certificates that a Java server presents and accepts."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class ServerTls:
    """PEM files of a server.

    identity   certificate and key (PKCS #8) of the server, in one file
    authority  certificate of the authority that signs the certificates of clients
    clients    whether the server asks clients for a certificate ("want") or requires one ("need")
    """

    identity: Path
    authority: Path
    clients: Literal["none", "want", "need"] = "none"
