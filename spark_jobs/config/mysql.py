"""Settings of the MySQL or MariaDB server that stores copies, the mirror."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr

from relay.settings import Port, Settings


class MirrorSettings(Settings):
    """A MySQL or MariaDB server that stores copies."""

    host: Annotated[str, Field(min_length=1)]
    """Host of the server."""
    port: Port = 3306
    """Port of the server."""
    user: str
    """Account with CREATE, ALTER, SELECT, INSERT, UPDATE, DELETE on the copies."""
    password: SecretStr = SecretStr("")
    """Password of the account; never printed."""
    ca_file: Path | None = None
    """PEM file of the authority. Set: TLS is required, and the server's name is checked."""
    prefix: str = ""
    """Text before the logical database's name, so that copies can be on a server that already has a
    database of that name.
    """
    writers: Annotated[int, Field(ge=1)] = 4
    """Largest number of tasks that write one table at the same time."""
    rows_per_statement: Annotated[int, Field(ge=1, le=10_000)] = 500
    """Rows of one statement."""
    patience_seconds: Annotated[float, Field(ge=1)] = 60
    """Seconds that the server may be unavailable, or a statement may take, before the job ends.

    An ALTER of a copy, and removing deleted keys, may take longer while its host answers.
    """
