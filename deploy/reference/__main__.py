"""`python -m deploy.reference` writes the generated pages and pictures.

With `--check` it only names those that differ.
"""

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from deploy.reference.commands import commands_page
from deploy.reference.errors import errors_page
from deploy.reference.metrics import metrics_page
from deploy.reference.pictures import svg
from deploy.reference.settings import job_settings_page, settings_page

_DOCS = Path(__file__).parents[2] / "docs"
_PAGES = {
    "cli.md": commands_page,
    "errors.md": errors_page,
    "job-settings.md": job_settings_page,
    "metrics.md": metrics_page,
    "settings.md": settings_page,
}


def outdated(docs: Path = _DOCS) -> list[str]:
    """Return the generated files below `docs` that differ from the code or from their text source,
    or do not exist.
    """
    return [
        str(file.relative_to(docs))
        for file, text in _generated(docs)
        if not file.exists() or file.read_text(encoding="utf-8") != text
    ]


def write(docs: Path = _DOCS) -> None:
    """Write all generated files below `docs`."""
    for file, text in _generated(docs):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def _generated(docs: Path) -> Iterator[tuple[Path, str]]:
    """Each generated file with its text."""
    for name in _PAGES:
        yield docs / "reference" / name, _page(name)
    for source in sorted((docs / "pictures").glob("*.txt")):
        yield source.with_suffix(".svg"), svg(source.read_text(encoding="utf-8"))


@cache
def _page(name: str) -> str:
    return _PAGES[name]()


def main() -> int:
    """Write the files, or with `--check` list outdated ones; return the exit status."""
    if "--check" not in sys.argv[1:]:
        write()
        return 0
    files = outdated()
    if files:
        print(
            f"docs: {', '.join(files)} are not as the code is. Run `make reference` and commit "
            f"the result.",
            file=sys.stderr,
        )
    return int(bool(files))


if __name__ == "__main__":
    sys.exit(main())
