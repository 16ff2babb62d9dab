"""What the examples import from the project's packages exists; not every test runs them all."""

import ast
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[3]
EXAMPLES: Final = sorted((ROOT / "examples").rglob("*.py"))
OWN: Final = ("relay", "roma_client", "spark_jobs", "canal_server")


def own_imports(file: Path) -> Iterator[tuple[str, str]]:
    """Yield module and name of every import from a package of the project."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in OWN:
            yield from ((str(node.module), each.name) for each in node.names)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_everything_that_an_example_imports_exists(file: Path) -> None:
    missing = [
        f"{module}.{name}"
        for module, name in own_imports(file)
        if not hasattr(import_module(module), name) and find_spec(f"{module}.{name}") is None
    ]
    assert missing == []


def test_examples_import_from_the_project() -> None:
    assert sum(1 for file in EXAMPLES for _ in own_imports(file)) > 5
