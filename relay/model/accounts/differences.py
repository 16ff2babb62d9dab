"""Changes between two states of users and tokens, as sentences."""

from collections.abc import Iterator

from relay.model.accounts.accounts import Accounts, ApiToken, Grant, User


def account_differences(present: Accounts, wanted: Accounts) -> tuple[str, ...]:
    """Return a sentence for each user and each token that `wanted` would add, change or remove.

    A restore shows these sentences before it begins, because rights may become valid again, such as
    those of a revoked token.
    """
    return (*_users(present, wanted), *_tokens(present, wanted))


def _users(present: Accounts, wanted: Accounts) -> Iterator[str]:
    for name, user in sorted(wanted.users.items()):
        before = present.users.get(name)
        if before is None:
            state = ", disabled" if user.disabled else ""
            yield f"User {name} comes back: {_told(user.grant)}{state}."
        elif changes := ", ".join(_user_changes(before, user)):
            yield f"User {name} changes: {changes}."
    for name in sorted(present.users.keys() - wanted.users.keys()):
        yield f"User {name} is removed."


def _user_changes(before: User, after: User) -> Iterator[str]:
    if before.grant != after.grant:
        yield f"{_told(before.grant)} becomes {_told(after.grant)}"
    if before.disabled != after.disabled:
        yield "disabled" if after.disabled else "enabled again"
    if before.password != after.password:
        yield "gets the earlier password" if after.password else "loses the password"
    if before.identity != after.identity:
        yield "gets another identity at the provider" if after.identity else "leaves the provider"


def _tokens(present: Accounts, wanted: Accounts) -> Iterator[str]:
    for name, token in sorted(wanted.tokens.items()):
        before = present.tokens.get(name)
        if before is None:
            yield f"Token {_named(token)} comes back: {_told(token.grant)}."
        elif before.hash != token.hash:
            yield f"Token {_named(token)} comes back in place of …{before.last_four}."
        elif before != token:
            yield f"Token {_named(token)} gets its earlier role or end: {_told(token.grant)}."
    for name in sorted(present.tokens.keys() - wanted.tokens.keys()):
        yield f"Token {_named(present.tokens[name])} is removed."


def _named(token: ApiToken) -> str:
    return f"{token.name} of {token.owner} (…{token.last_four})"


def _told(grant: Grant) -> str:
    return f"{grant.role.value} with values of rows" if grant.values else grant.role.value
