"""Computes the data of the users page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from relay.model.accounts import ApiToken, Right, Role, User, rights_of

_DAY_MS: Final = 86_400_000
_SOON_DAYS: Final = 7

ACTIONS: Final[Sequence[tuple[str, Right]]] = (
    ("See states, lag, routes", Right.READ),
    ("Dry run of mappings", Right.READ),
    ("Save and roll back mappings", Right.EDIT),
    ("Pause, throttle, move, drain", Right.OPERATE),
    ("Switch source, reposition, preflight", Right.OPERATE),
    ("Accept loss, skip", Right.OPERATE),
    ("Instance settings", Right.ADMINISTER),
    ("Users and tokens, backup", Right.ADMINISTER),
)
ROLE_SENTENCES: Final[Sequence[tuple[Role, str]]] = (
    (Role.VIEWER, "Reads all pages, and tries mapping edits without saving them."),
    (Role.EDITOR, "Also saves and rolls back mappings."),
    (Role.OPERATOR, "Also pauses, moves and repositions instances, and switches their sources."),
    (Role.ADMIN, "Also changes instance settings, users and tokens, and takes backups."),
)
DAYS: Final[Sequence[tuple[int, str]]] = (
    (30, "in 30 days"),
    (90, "in 90 days"),
    (365, "in 1 year"),
)


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token in the list.

    ends     text that says when the token expires
    is_soon  whether the token has expired or expires during the next week
    """

    token: ApiToken
    ends: str
    is_soon: bool


def token_rows(tokens: Sequence[ApiToken], now_ms: int) -> list[TokenRow]:
    """Return the rows of the list of tokens. `now_ms` is the present time in Unix milliseconds."""
    return [_row(each, now_ms) for each in tokens]


def _row(token: ApiToken, now_ms: int) -> TokenRow:
    if not token.expires_ms:
        return TokenRow(token, "never", is_soon=False)
    if token.has_expired(now_ms):
        return TokenRow(token, "has expired", is_soon=True)
    days = (token.expires_ms - now_ms) // _DAY_MS
    ends = "today" if not days else f"in {days} day{'s' if days > 1 else ''}"
    return TokenRow(token, ends, is_soon=days < _SOON_DAYS)


def matrix() -> list[tuple[str, list[bool]]]:
    """Return for each action its title, and whether the roles viewer, editor, operator and admin
    have it.
    """
    return [(title, [right in rights_of(role) for role in Role]) for title, right in ACTIONS]


def sign_in_ways(user: User) -> str:
    """Return a text that says how a user signs in: "Disabled", "Provider", "Password" or "Tokens
    only".
    """
    if user.disabled:
        return "Disabled"
    if user.identity is not None:
        return "Provider"
    return "Password" if user.password else "Tokens only"
