"""Which servers this machine can give, and what the absence of one means."""

import os

import pytest

from deploy.embedded import EmbeddedError, ServerProcess
from deploy.embedded.catalogue import MAY_BE_MISSING_IN_CI

_found: dict[str, str] = {}
_missing: dict[str, EmbeddedError] = {}


def require(server: type[ServerProcess]) -> None:
    """Make sure the files of `server` are here.

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
    """Return a line for every server that was asked for, those that are missing last and loud."""
    here = [f"{name}: {version}" for name, version in sorted(_found.items())]
    return here + [
        f"WARNING: {name} WAS NOT TESTED: {reason}" for name, reason in sorted(_missing.items())
    ]
