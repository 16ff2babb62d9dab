"""`python -m deploy.reference` writes the generated pages, pictures and dashboards.

With `--check` it only names those that differ.
"""

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from deploy.dashboards import DASHBOARDS, to_json
from deploy.reference.commands import commands_page
from deploy.reference.errors import errors_page
from deploy.reference.metrics import metrics_page
from deploy.reference.pictures import svg
from deploy.reference.settings import job_settings_page, settings_page
from deploy.reference.type_readers import type_readers_page

_PROJECT = Path(__file__).parents[2]
_DOCS = _PROJECT / "docs"
_GRAFANA = _PROJECT / "deploy" / "monitoring" / "grafana"
_PAGES = {
    "cli.md": commands_page,
    "errors.md": errors_page,
    "job-settings.md": job_settings_page,
    "metrics.md": metrics_page,
    "settings.md": settings_page,
    "type-readers.md": type_readers_page,
}


def outdated(docs: Path = _DOCS, grafana: Path = _GRAFANA) -> list[str]:
    """Return the generated files that differ from the code or from their text source, or do not
    exist, relative to the folder `docs` or `grafana`.
    """
    return [
        str(file.relative_to(docs if file.is_relative_to(docs) else grafana))
        for file, text in _generated(docs, grafana)
        if not file.exists() or file.read_text(encoding="utf-8") != text
    ]


def write(docs: Path = _DOCS, grafana: Path = _GRAFANA) -> None:
    """Write all generated files below `docs` and `grafana`."""
    for file, text in _generated(docs, grafana):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def _generated(docs: Path, grafana: Path) -> Iterator[tuple[Path, str]]:
    """Each generated file with its text."""
    for name in _PAGES:
        yield docs / "reference" / name, _page(name)
    for source in sorted((docs / "pictures").glob("*.txt")):
        yield source.with_suffix(".svg"), svg(source.read_text(encoding="utf-8"))
    for name, dashboard in DASHBOARDS.items():
        yield grafana / name, to_json(dashboard)


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
            f"docs and dashboards: {', '.join(files)} are not as the code is. Run "
            f"`make reference` and commit the result.",
            file=sys.stderr,
        )
    return int(bool(files))


if __name__ == "__main__":
    sys.exit(main())
