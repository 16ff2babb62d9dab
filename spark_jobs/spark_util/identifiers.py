"""Names in SQL."""


def quoted(name: str) -> str:
    """A name, or a path, in backticks, as MySQL and Spark both read it."""
    return "`" + name.replace("`", "``") + "`"
