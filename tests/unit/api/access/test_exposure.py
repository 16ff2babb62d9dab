"""Where the admin may listen, and who reads there before there are users."""

import pytest

from api.access.exposure import check_exposure, reads_need_a_caller
from relay.errors import ConfigurationError
from relay.settings import ApiSettings

TLS = {"cert": "a.pem", "key": "b.pem"}


@pytest.mark.parametrize(
    ("settings", "may_listen", "asks"),
    [
        ({"host": "127.0.0.1"}, True, False),
        ({"host": "::1"}, True, False),
        ({"host": "localhost"}, True, False),
        ({"host": "127.0.0.1", "anonymous_reads": "never"}, True, True),
        ({"host": "10.0.0.1"}, False, True),
        ({"host": "::"}, False, True),
        ({"host": "10.0.0.1", "token": "x"}, False, False),
        ({"host": "admin.example", "token": "x"}, False, False),
        ({"host": "10.0.0.1", "tls": TLS}, True, True),
        ({"host": "10.0.0.1", "behind_proxy": True}, True, True),
        ({"host": "10.0.0.1", "behind_proxy": True, "token": ""}, True, True),
        ({"host": "10.0.0.1", "behind_proxy": True, "token": "x"}, True, False),
    ],
)
def test_plain_http_stays_on_the_machine(
    settings: dict[str, object], may_listen: bool, asks: bool
) -> None:
    api = ApiSettings.model_validate(settings)
    assert reads_need_a_caller(api) == asks
    if may_listen:
        check_exposure(api)
        return
    with pytest.raises(ConfigurationError, match="plain text") as caught:
        check_exposure(api)
    assert "api.tls" in caught.value.way_out
    assert "behind_proxy" in caught.value.way_out
