"""Documents of instances: secrets are hidden wherever they stand, and come back when what was shown comes back."""

from hypothesis import given
from hypothesis import strategies as st

from relay.state import MASK, InstanceDocument, with_secrets_of

SECRET = "s3cr3t"
LEAVES = st.sampled_from([SECRET, "", "${VARIABLE}", 7, True])
NAMES = st.sampled_from(["password", "secrets", "source", "claims", "host"])
FIELDS = st.dictionaries(NAMES, st.recursive(LEAVES, lambda inner: st.dictionaries(NAMES, inner, max_size=3), max_leaves=8), max_size=4)


def test_secrets_are_hidden_in_every_depth_and_names_of_variables_are_not() -> None:
    fields = {
        "source": {"host": "h", "password": SECRET, "standby": {"password": "${STANDBY}"}},
        "claims": {"url": "s3://x", "secrets": {"key": SECRET, "token": "${TOKEN}"}},
    }
    assert InstanceDocument("shop", fields, 1).shown == {
        "source": {"host": "h", "password": MASK, "standby": {"password": "${STANDBY}"}},
        "claims": {"url": "s3://x", "secrets": {"key": MASK, "token": "${TOKEN}"}},
    }


@given(FIELDS)
def test_what_was_shown_and_comes_back_is_what_is_stored(fields: dict[str, object]) -> None:
    document = InstanceDocument("shop", fields, 1)
    assert with_secrets_of(fields, document.shown) == fields


def test_a_new_secret_replaces_the_stored_one() -> None:
    stored = {"source": {"password": SECRET}}
    assert with_secrets_of(stored, {"source": {"password": "new"}}) == {"source": {"password": "new"}}
    assert with_secrets_of({}, {"source": {"password": MASK}}) == {"source": {"password": MASK}}
