"""Where the mirror is."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr

from relay.settings import Port, Settings


class MirrorSettings(Settings):
    """A MySQL or MariaDB server that holds copies.

    `prefix` stands before the logical database's name, so that a mirror may lie on a server that has a database of that name.
    `ca_file`: PEM file of the authority whose certificates are trusted; with it the connection is encrypted and the name checked.
    `writers`: how many tasks write at the same time. `patience_seconds`: how long the server may be away before the job ends.
    """

    host: Annotated[str, Field(min_length=1)]
    port: Port = 3306
    user: str
    password: SecretStr = SecretStr("")
    ca_file: Path | None = None
    prefix: str = ""
    writers: Annotated[int, Field(ge=1)] = 4
    rows_per_statement: Annotated[int, Field(ge=1, le=10_000)] = 500
    patience_seconds: Annotated[float, Field(ge=1)] = 60
