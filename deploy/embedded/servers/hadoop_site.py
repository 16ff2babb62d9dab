"""Writes the configuration files of Hadoop and HBase."""

from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape


def write_site(file: Path, values: Mapping[str, str | int]) -> None:
    """Write a file of properties, such as core-site.xml; the folder is made."""
    file.parent.mkdir(exist_ok=True)
    lines = [
        f"<property><name>{escape(name)}</name><value>{escape(str(value))}</value></property>"
        for name, value in values.items()
    ]
    file.write_text("\n".join(["<configuration>", *lines, "</configuration>\n"]), encoding="utf-8")
