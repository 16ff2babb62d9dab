"""The certificates that a Java server presents and accepts."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class ServerTls:
    """PEM files of a server.

    `identity`: its certificate and its key (PKCS #8) in one file. `authority`: the authority of
    clients. `clients`: whether they show a certificate.
    """

    identity: Path
    authority: Path
    clients: Literal["none", "want", "need"] = "none"
