"""The error for an unknown key suggests the nearest known key. Files with a byte order mark or
Windows line ends are read.
"""

from pathlib import Path

import pytest

from relay.errors import ConfigurationError
from relay.settings import RelaySettings, load_settings, unknown_key

GOOD = """
[kafka]
bootstrap_servers = "k:1"
[zookeeper]
hosts = "z:1"
[[instances]]
name = "shop"
source = {host = "h", user = "u", password = "s3cr3t"}
"""


@pytest.mark.parametrize(
    ("good", "slip", "said"),
    [
        (
            "password =",
            "pasword =",
            "instances.0.source.pasword: This key is not known here; did you mean 'password'?",
        ),
        (
            "[[instances]]",
            "[[instance]]",
            "instance: This key is not known here; did you mean 'instances'?",
        ),
        (
            "hosts =",
            'root = "/r"\nHosts =',
            "zookeeper.Hosts: This key is not known here; did you mean 'hosts'?",
        ),
        (
            "[kafka]",
            "[status]\nxyzzy = 1\n[kafka]",
            (
                "status.xyzzy: This key is not known here; known are host, port, hosts, "
                "refresh_seconds, tables."
            ),
        ),
    ],
)
def test_the_key_that_was_meant_is_named(tmp_path: Path, good: str, slip: str, said: str) -> None:
    file = tmp_path / "relay.toml"
    file.write_text(GOOD.replace(good, slip), encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        load_settings(file)
    assert said in caught.value.reason
    assert "s3cr3t" not in caught.value.reason


def test_keys_are_found_in_lists_and_unions() -> None:
    place = ("instances", 0, "group", "sources", 1, "standby", "hots")
    assert unknown_key(place, RelaySettings).endswith("did you mean 'host'?")
    assert unknown_key(("a",), dict[str, int]) == "This key is not known here"


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "relay.toml"
    file.write_text(GOOD, encoding="utf-8-sig")
    assert load_settings(file).instances[0].name == "shop"
    file.write_text(GOOD, encoding="utf-16")
    with pytest.raises(ConfigurationError, match="is not UTF-8") as caught:
        load_settings(file)
    assert caught.value.way_out == "Save the file as UTF-8."
