"""Reads the login data of an instance's sources.

If this data changes after a refused login, another attempt may succeed.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from relay.settings import InstanceSettings, SourceSettings

LoginState: TypeAlias = tuple[object, ...]
"""The passwords, and the state of the certificates' files, of every server that the instance may
read.

Compare it; do not print it.
"""


def login_state(instance: InstanceSettings) -> LoginState:
    """Return the passwords and the state of the certificate files now, of every server of the
    instance.

    A relay never repeats a refused login with the same data.
    """
    return tuple(each for server in _servers(instance) for each in _login_of(server))


def _servers(instance: InstanceSettings) -> Iterator[SourceSettings]:
    sources = (
        [instance.source]
        if instance.group is None
        else instance.group.members(instance.source).values()
    )
    for source in sources:
        yield source
        if (standby := source.at_standby()) is not None:
            yield standby


def _login_of(server: SourceSettings) -> Iterator[object]:
    yield server.password.get_secret_value()
    yield from (
        _state_of(file)
        for file in (server.tls_ca, server.tls_cert, server.tls_key)
        if file is not None
    )


def _state_of(file: Path) -> tuple[int, int, int] | None:
    """Return values that change with the file's content; None while the file cannot be read.

    A replacement changes that.
    """
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
