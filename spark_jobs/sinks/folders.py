"""Converts names of tables to folders and back."""

from urllib.parse import quote, unquote


def folder_of(table: str) -> str:
    """Return the folder of `database.table`, relative to the root; no name can lead out of the
    root.
    """
    database, _, name = table.partition(".")
    return f"{_folder(database)}/{_folder(name)}"


def table_of(folder: str) -> str:
    """Return the table of a folder, which is given by the last two parts of a path or URI."""
    return ".".join(unquote(part) for part in folder.rstrip("/").split("/")[-2:])


def _folder(name: str) -> str:
    """Return a name as a folder: Hadoop hides names that begin with `_` or `.`, and `/` would be
    a subfolder.
    """
    quoted = quote(name, safe=" $-+@")
    return f"%{ord(quoted[0]):02X}{quoted[1:]}" if quoted[:1] in {"_", "."} else quoted
