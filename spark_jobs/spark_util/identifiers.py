"""Quotes names for SQL."""


def quoted(name: str) -> str:
    """Return a name, or a path, in backticks, as MySQL and Spark both read it."""
    return "`" + name.replace("`", "``") + "`"
