"""A refusal that the audit trail gets says how the request came, too."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from api.access.trusted_header import HeaderRefused
from api.guard import Guard
from api.middleware.hosts import AllowedHosts
from relay.audit import PAGE, REST, AuditEntry


class Refusing:
    """A header's reader that refuses each request, and makes an entry of it."""

    def __init__(self) -> None:
        self.noted: list[AuditEntry] = []

    def caller(self, *_: Any) -> None:
        self.noted.append(AuditEntry("unknown", "session.refused"))
        raise HeaderRefused("The request is not the proxy's.")


@pytest.mark.parametrize(("path", "via"), [("/api/v1/instances", REST), ("/users", PAGE)])
def test_a_refused_header_is_no_act_of_the_relay(path: str, via: str) -> None:
    header = Refusing()
    admin = SimpleNamespace(access=SimpleNamespace(trusted_header=header))
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": b"",
        "headers": [(b"host", b"admin")],
        "client": ("203.0.113.7", 1),
        "server": ("admin", 80),
        "scheme": "http",
        "root_path": "",
        "app": SimpleNamespace(state=SimpleNamespace(admin=admin)),
    }

    async def nothing(*_: Any) -> Any:
        return {"type": "http.disconnect"}

    asyncio.run(Guard(nothing, [], AllowedHosts(["*"]))(scope, nothing, nothing))
    assert [each.via for each in header.noted] == [via]
