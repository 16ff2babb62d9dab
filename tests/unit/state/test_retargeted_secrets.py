"""A stored secret goes to the destination that it was given for, and to no other."""

from collections.abc import Mapping
from typing import Any

import pytest

from relay.state import MASK, InstanceDocument, with_secrets_of

PASSWORD, OF_STANDBY, KEY = "s3cret", "0ther", "sk"
SOURCE: dict[str, Any] = {
    "host": "mysql1",
    "user": "relay",
    "password": PASSWORD,
    "tls": "required",
}
STORED: dict[str, Any] = {
    "source": {**SOURCE, "standby": {"host": "mysql2", "password": OF_STANDBY}},
    "oversize": "claim_check",
    "claims": {
        "url": "s3://bucket/claims",
        "options": {
            "endpoint_url": "https://s3.corp",
            "key": "AKIA",
            "secret": "in-options",
            "anon": False,
        },
        "secrets": {"token": KEY},
    },
}


def saved(shown: Mapping[str, Any]) -> Mapping[str, Any]:
    return with_secrets_of(STORED, shown)


def shown() -> dict[str, Any]:
    return InstanceDocument("shop", STORED, 1).shown


def test_nothing_that_may_be_secret_is_shown() -> None:
    text = str(shown())
    for secret in (PASSWORD, OF_STANDBY, KEY, "AKIA", "in-options"):
        assert secret not in text
    assert shown()["claims"]["options"]["endpoint_url"] == "https://s3.corp"
    assert shown()["claims"]["options"]["anon"] is False
    with_login = {"claims": {"url": "ftp://user:hidden@host/claims"}}
    assert "hidden" not in str(InstanceDocument("shop", with_login, 1).shown)


def test_what_comes_back_as_shown_is_what_is_stored() -> None:
    assert saved(shown()) == STORED
    assert saved({**shown(), "preferred_servers": ["r2"]}) == {
        **STORED,
        "preferred_servers": ["r2"],
    }


@pytest.mark.parametrize(
    "change",
    [
        {"host": "evil"},
        {"port": 3307},
        {"user": "root"},
        {"tls": "disabled"},
        {"tls": "required", "tls_legacy": True},
    ],
    ids=str,
)
def test_a_changed_destination_drops_the_passwords(change: dict[str, Any]) -> None:
    edited = {**shown(), "source": {**shown()["source"], **change}}
    found = saved(edited)
    assert (found["source"]["password"], found["source"]["standby"]["password"]) == (MASK, MASK)
    assert found["claims"] == STORED["claims"]


@pytest.mark.parametrize(
    "standby", [{"host": "evil"}, {"host": "mysql2", "user": "root", "password": MASK}], ids=str
)
def test_a_standby_that_would_get_the_sources_password_counts(standby: dict[str, Any]) -> None:
    assert (
        saved({**shown(), "source": {**shown()["source"], "standby": standby}})["source"][
            "password"
        ]
        == MASK
    )


def test_a_further_source_that_would_get_the_password_counts() -> None:
    group = {"sources": [{"name": "b", "host": "evil"}]}
    assert saved({**shown(), "group": group})["source"]["password"] == MASK


def test_a_standby_that_goes_leaves_the_source_its_password() -> None:
    source = {name: value for name, value in shown()["source"].items() if name != "standby"}
    assert saved({**shown(), "source": source})["source"] == SOURCE


@pytest.mark.parametrize(
    "change",
    [
        {"url": "s3://evil/claims"},
        {
            "options": {
                **STORED["claims"]["options"],
                "endpoint_url": "https://evil",
                "key": MASK,
                "secret": MASK,
            }
        },
        {
            "options": {
                **STORED["claims"]["options"],
                "key": MASK,
                "secret": MASK,
                "endpoint": "https://evil",
            }
        },
        {"secrets": {"token": MASK, "endpoint_url": "https://evil"}},
    ],
    ids=str,
)
def test_a_changed_claim_store_drops_its_secrets(change: dict[str, Any]) -> None:
    found = saved({**shown(), "claims": {**shown()["claims"], **change}})
    assert found["claims"]["secrets"]["token"] == MASK
    assert found["source"] == STORED["source"]


def test_a_document_that_cannot_be_used_keeps_no_password() -> None:
    assert (
        saved({**shown(), "source": {**shown()["source"], "hots": "x"}})["source"]["password"]
        == MASK
    )
    assert (
        with_secrets_of(
            {"source": {"password": PASSWORD}}, {"source": {**SOURCE, "password": MASK}}
        )["source"]["password"]
        == MASK
    )
