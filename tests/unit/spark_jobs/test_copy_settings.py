"""The pages of first copy and proof name every key and its default."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from spark_jobs.copy_settings import BootstrapSettings, ReconcileSettings, SourceServer
from spark_jobs.settings import JobSettings

DOCS = Path(__file__).parents[3] / "docs"


def on_page(page: str) -> dict[str, str]:
    """Key → default, from the tables of a page; without the marks around them."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return {key: default.strip('`"') for key, default in re.findall(r"^\| `([\w.]+)` \| (.*?) \|", text, re.MULTILINE)}


def shown(model: type[BaseModel], section: str, *names: str) -> dict[str, str]:
    """Each key with its default as a page shows it; a required key shows none."""
    fields = {name: field for name, field in model.model_fields.items() if not names or name in names}
    return {
        f"{section}{name}": "" if field.is_required() else default(field.get_default(call_default_factory=True))
        for name, field in fields.items()
    }


def default(value: object) -> str:
    if isinstance(value, BaseModel):
        return "as in the relay"
    return "none" if value is None or value == () or "Secret" in type(value).__name__ else str(value)


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (
            "bootstrap.md",
            {
                **shown(JobSettings, "", "installation", "mapping"),
                **shown(SourceServer, "sources."),
                **shown(BootstrapSettings, "bootstrap."),
            },
        ),
        ("reconcile.md", shown(ReconcileSettings, "reconcile.")),
    ],
    ids=["bootstrap", "reconcile"],
)
def test_the_page_names_every_key_and_its_default(page: str, expected: dict[str, str]) -> None:
    assert on_page(page) == {**expected, **({"bootstrap.notes": "_bootstrap` below `copy_root"} if page == "bootstrap.md" else {})}
