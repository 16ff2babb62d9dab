"""Where the admin may listen, and who reads there before there are users."""

import pytest

from api.access.exposure import check_exposure, reads_need_a_caller
from relay.errors import ConfigurationError
from relay.settings import ApiSettings

TLS = {"cert": "a.pem", "key": "b.pem"}

HEADER = {"user": "X-User", "roles_header": "X-Groups", "roles": {"ops": "operator"}}


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
        ({"host": "127.0.0.1", "trusted_header": HEADER}, True, True),
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


@pytest.mark.parametrize("host", ["10.0.0.1", "::", "admin.example"])
def test_a_header_that_anybody_could_send_needs_the_list_of_proxies(host: str) -> None:
    api = {"host": host, "behind_proxy": True, "trusted_header": HEADER}
    with pytest.raises(ConfigurationError, match="could name any user"):
        check_exposure(ApiSettings.model_validate(api))
    listed = {**api, "trusted_header": {**HEADER, "proxies": ["10.0.0.5"]}}
    check_exposure(ApiSettings.model_validate(listed))
