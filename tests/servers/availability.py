"""The servers that this machine can run, and the result of a test whose server is missing."""

import os

import pytest

from deploy.embedded import EmbeddedError, ServerProcess
from deploy.embedded.catalogue import MAY_BE_MISSING_IN_CI

_found: dict[str, str] = {}
_missing: dict[str, EmbeddedError] = {}


def require(server: type[ServerProcess]) -> None:
    """Make sure that the files of `server` are on this machine.

    Without them the test is skipped, or fails where CI is set.
    """
    if server.name not in _found and server.name not in _missing:
        try:
            _found[server.name] = server.fetch()
        except EmbeddedError as refusal:
            _missing[server.name] = refusal
    if server.name in _missing:
        _refuse(server, str(_missing[server.name]))


def _refuse(server: type[ServerProcess], reason: str) -> None:
    if os.environ.get("CI") and server.name not in MAY_BE_MISSING_IN_CI:
        pytest.fail(f"{server.name} cannot be started: {reason}", pytrace=False)
    pytest.skip(f"{server.name} cannot be started: {reason}")


def report() -> list[str]:
    """Return a line for every server that tests requested. Missing servers come last and are
    emphasized.
    """
    here = [f"{name}: {version}" for name, version in sorted(_found.items())]
    return here + [
        f"WARNING: {name} WAS NOT TESTED: {reason}" for name, reason in sorted(_missing.items())
    ]
