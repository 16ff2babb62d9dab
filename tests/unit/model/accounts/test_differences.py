"""What a restored state of users and tokens changes."""

from dataclasses import replace

import pytest

from relay.model.accounts import Accounts, ApiToken, Grant, Role, User, account_differences

ANN = User("ann", Grant(Role.ADMIN), 1, password="$argon2id$a")
CI = ApiToken("ci", "ann", Grant(Role.EDITOR), "h" * 64, "abcd", 1, 2)
STATE = Accounts({"ann": ANN}, {"ci": CI})


def of(user: User = ANN, token: ApiToken = CI) -> Accounts:
    return Accounts({"ann": user}, {"ci": token})


@pytest.mark.parametrize(
    ("present", "sentences"),
    [
        (STATE, ()),
        (
            Accounts(),
            ("User ann comes back: admin.", "Token ci of ann (…abcd) comes back: editor."),
        ),
        (Accounts({"ann": ANN}), ("Token ci of ann (…abcd) comes back: editor.",)),
        (of(replace(ANN, disabled=True)), ("User ann changes: enabled again.",)),
        (of(replace(ANN, password="")), ("User ann changes: gets the earlier password.",)),
        (
            of(replace(ANN, password="$argon2id$b")),
            ("User ann changes: gets the earlier password.",),
        ),
        (
            of(replace(ANN, grant=Grant(Role.VIEWER, values=True))),
            ("User ann changes: viewer with values of rows becomes admin.",),
        ),
        (
            of(token=replace(CI, hash="i" * 64, last_four="wxyz")),
            ("Token ci of ann (…abcd) comes back in place of …wxyz.",),
        ),
        (
            of(token=replace(CI, expires_ms=1)),
            ("Token ci of ann (…abcd) gets its earlier role or end: editor.",),
        ),
    ],
)
def test_each_user_and_token_is_named(present: Accounts, sentences: tuple[str, ...]) -> None:
    assert account_differences(present, STATE) == sentences


def test_the_other_direction_takes_away() -> None:
    less = Accounts({"bob": replace(ANN, name="bob", disabled=True)})
    assert account_differences(STATE, less) == (
        "User bob comes back: admin, disabled.",
        "User ann is removed.",
        "Token ci of ann (…abcd) is removed.",
    )
    assert account_differences(STATE, of(replace(ANN, password="", disabled=True))) == (
        "User ann changes: disabled, loses the password.",
    )
