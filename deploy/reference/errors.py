"""The page of error codes, from the classes of relay, admin and Spark jobs."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeVar

import api.access.provider.errors  # noqa: F401  # the page lists its errors
from api.errors import ApiError
from deploy.reference.docstrings import opening
from deploy.reference.markdown import escaped, page, table
from relay.errors import RelayError
from spark_jobs.errors import JobError

_TROUBLESHOOTING: Final = Path(__file__).parents[2] / "docs" / "troubleshooting"
Error = TypeVar("Error", bound=Exception)


def errors_page() -> str:
    """Return the page of all errors.

    A code of the relay links to its heading in docs/troubleshooting.
    """
    return page(
        "Error codes",
        (
            "Status, log, metrics and API name the code. A message consists of the code, a "
            "reason with the values, and the remedy."
        ),
        (
            "## Relay\n\nThe link leads to what to do. States of instances: "
            "[Troubleshooting](../troubleshooting/index.md#states)."
        ),
        table(("code", "meaning", "remedy"), _of_relay()),
        (
            "## Admin\n\nThe admin answers with `application/problem+json`. It answers with "
            "codes of the relay too."
        ),
        table(("code", "status", "meaning", "remedy"), _of_admin()),
        (
            "## Spark jobs\n\nA job ends with exit code 1 (`roma reconcile`: 2) and one "
            "sentence: the reason, then the remedy."
        ),
        table(("error", "meaning", "remedy"), _of_jobs()),
    )


def _of_relay() -> Iterator[list[str]]:
    pages = {
        code: file.name
        for file in sorted(_TROUBLESHOOTING.glob("*.md"))
        for code in _headings(file)
    }
    for error in _tree(RelayError):
        if error.__module__.startswith("relay.errors"):
            page = pages.get(error.code, "index.md")
            link = f"[`{error.code}`](../troubleshooting/{page}#{error.code.lower()})"
            yield [link, escaped(opening(error)), escaped(error.remedy)]


def _of_admin() -> Iterator[list[str]]:
    for error in _tree(ApiError):
        if "code" in vars(error) and error is not ApiError and error.__module__.startswith("api."):
            yield [
                f"`{error.code}`",
                str(error.status.value),
                escaped(opening(error)),
                escaped(error.remedy),
            ]


def _of_jobs() -> Iterator[list[str]]:
    for error in _tree(JobError):
        if error is not JobError and error.__module__.startswith("spark_jobs."):
            yield [f"`{error.__name__}`", escaped(opening(error)), escaped(error.remedy)]


def _headings(file: Path) -> list[str]:
    return re.findall(r"^## ([A-Z_]+)$", file.read_text(encoding="utf-8"), re.MULTILINE)


def _tree(branch: type[Error]) -> Iterator[type[Error]]:
    yield branch
    for child in sorted(branch.__subclasses__(), key=lambda each: each.__name__):
        yield from _tree(child)
