"""Documents of instances: secrets are hidden wherever they stand, and come back when what was shown
comes back.
"""

from hypothesis import given
from hypothesis import strategies as st

from relay.state import MASK, InstanceDocument, with_secrets_of

SECRET = "s3cr3t"
LEAVES = st.sampled_from([SECRET, "", "${VARIABLE}", 7, True])
NAMES = st.sampled_from(["password", "secrets", "source", "claims", "host"])


def deeper(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """Objects of settings, and lists of such."""
    objects = st.dictionaries(NAMES, inner, max_size=3)
    return objects | st.lists(objects, max_size=2)


FIELDS = st.dictionaries(NAMES, st.recursive(LEAVES, deeper, max_leaves=8), max_size=4)


def test_secrets_are_hidden_in_every_depth_and_names_of_variables_are_not() -> None:
    fields = {
        "source": {"host": "h", "password": SECRET, "standby": {"password": "${STANDBY}"}},
        "claims": {"url": "s3://x", "secrets": {"key": SECRET, "token": "${TOKEN}"}},
        "masks": [{"columns": "a", "salt": SECRET}, {"columns": "b", "salt": "${SALT}"}],
    }
    assert InstanceDocument("shop", fields, 1).shown == {
        "source": {"host": "h", "password": MASK, "standby": {"password": "${STANDBY}"}},
        "claims": {"url": "s3://x", "secrets": {"key": MASK, "token": "${TOKEN}"}},
        "masks": [{"columns": "a", "salt": MASK}, {"columns": "b", "salt": "${SALT}"}],
    }


@given(FIELDS)
def test_what_was_shown_and_comes_back_is_what_is_stored(fields: dict[str, object]) -> None:
    document = InstanceDocument("shop", fields, 1)
    assert with_secrets_of(fields, document.shown) == fields


def test_a_new_secret_replaces_the_stored_one() -> None:
    stored = {"source": {"password": SECRET}}
    assert with_secrets_of(stored, {"source": {"password": "new"}}) == {
        "source": {"password": "new"}
    }
    assert with_secrets_of({}, {"source": {"password": MASK}}) == {"source": {"password": MASK}}


def masks(*entries: tuple[str, str]) -> dict[str, object]:
    return {"masks": [{"columns": columns, "salt": salt} for columns, salt in entries]}


STORED = masks(("a", "salt of a"), ("b", "salt of b"))


def test_entries_of_a_list_keep_their_own_secrets() -> None:
    moved = masks(("b", MASK), ("a", MASK), ("c", "new"))
    assert with_secrets_of(STORED, moved) == masks(
        ("b", "salt of b"), ("a", "salt of a"), ("c", "new")
    )
    assert with_secrets_of(STORED, masks(("b", MASK))) == masks(("b", "salt of b"))


def test_an_entry_that_was_changed_keeps_the_secret_of_its_place() -> None:
    assert with_secrets_of(STORED, masks(("a", MASK), ("b2", MASK))) == masks(
        ("a", "salt of a"), ("b2", "salt of b")
    )


def test_an_entry_without_a_place_has_no_secret() -> None:
    for columns in (["a", "b", "c"], ["b2"], ["c", "a", "b"]):
        (whole,) = with_secrets_of(STORED, masks(*((each, MASK) for each in columns))).values()
        assert [each["salt"] for each in whole] == [
            MASK if each in ("c", "b2") else f"salt of {each}" for each in columns
        ]
