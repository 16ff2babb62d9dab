"""Quotes names for SQL."""


def quoted(name: str) -> str:
    """Return a name as SQL writes it, in backticks."""
    return "`" + name.replace("`", "``") + "`"
