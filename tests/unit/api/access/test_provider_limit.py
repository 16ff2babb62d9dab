"""Answers of a provider that no attempt of the browser asked for."""

from functools import partial
from typing import Any

import anyio
import pytest

from api.access.provider.desk import Answer, ProviderDesk
from api.access.provider.errors import AttemptUnknown
from api.access.provider.limit import BURST
from api.errors import LoginPaused
from relay.settings import OidcSettings

SETTINGS = OidcSettings.model_validate(
    {
        "issuer": "https://id.example.org",
        "client_id": "roma",
        "client_secret": "s",
        "public_url": "https://roma.example.org/relay",
        "roles": {"ops": "operator"},
    }
)
STRANGE = Answer("none", "code", "", "")


class Notes:
    """What would be written down."""

    def refused(self, *_: object) -> None: ...


def finish(desk: ProviderDesk, *, cross_site: bool) -> None:
    anyio.run(partial(desk.finish, STRANGE, "", "", "10.0.0.1", cross_site=cross_site))


def test_pages_of_other_sites_cannot_exhaust_the_limit_of_an_address() -> None:
    unused: Any = None
    notes: Any = Notes()
    desk = ProviderDesk(SETTINGS, unused, unused, unused, notes)
    for _ in range(2 * BURST):
        with pytest.raises(AttemptUnknown):
            finish(desk, cross_site=True)
    for _ in range(BURST):
        with pytest.raises(AttemptUnknown):
            finish(desk, cross_site=False)
    with pytest.raises(LoginPaused):
        finish(desk, cross_site=False)
