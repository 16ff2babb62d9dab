"""Folders, files and functions keep a size that a reader can take in.

Longer ones are named here. A name is removed when its file or function is short enough.
"""

import ast
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).parents[3]
_PRODUCT: Final = (
    "relay",
    "api",
    "spark_jobs",
    "roma_client",
    "canal_server",
    "deploy",
    "tools",
    "examples",
)
_FILES_OF_A_FOLDER: Final = 15
_LINES_OF_A_FILE: Final = 300
_LINES_OF_A_BODY: Final = 30
"""Without the signature and the docstring."""

_LONG_FILES: Final[frozenset[str]] = frozenset()

_LONG_FUNCTIONS: Final[frozenset[str]] = frozenset()


def _files_under(*folders: str) -> list[str]:
    """The files that git has or would take, so that nothing compiled counts."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *folders],
        cwd=_ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return sorted({line for line in listed.stdout.splitlines() if (_ROOT / line).is_file()})


def _module(path: Path) -> Path:
    """The files of one compiled module are one (ADR 52)."""
    return path.with_suffix(".pyx") if path.suffix in {".pxd", ".pyi"} else path


def _lines(path: str) -> int:
    return len((_ROOT / path).read_text(encoding="utf-8").splitlines())


def _body_length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (function.end_lineno or 0) - body[0].lineno + 1 if body else 0


def _bodies(node: ast.AST, above: str = "") -> Iterator[tuple[str, int]]:
    """Yield each function's qualified name and the lines of its body."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{above}{child.name}"
            if not isinstance(child, ast.ClassDef):
                yield name, _body_length(child)
            yield from _bodies(child, f"{name}.")
        else:
            yield from _bodies(child, above)


def _long_functions() -> set[str]:
    return {
        f"{path} {name}"
        for path in _files_under(*_PRODUCT)
        if path.endswith(".py")
        for name, lines in _bodies(ast.parse((_ROOT / path).read_text(encoding="utf-8")))
        if lines > _LINES_OF_A_BODY
    }


def test_no_folder_has_more_than_15_files() -> None:
    modules = {_module(Path(path)) for path in _files_under(*_PRODUCT, "tests")}
    sizes = Counter(str(module.parent) for module in modules)
    full = {folder: count for folder, count in sizes.items() if count > _FILES_OF_A_FOLDER}
    assert full == {}, "cut these folders by subject"


def test_no_other_file_is_longer_than_300_lines() -> None:
    suffixes = {".py", ".pyx", ".pxd", ".java", ".js", ".css"}
    long = {
        path
        for path in _files_under(*_PRODUCT)
        if Path(path).suffix in suffixes and _lines(path) > _LINES_OF_A_FILE
    }
    assert long - _LONG_FILES == set(), "cut these files where it helps a reader"
    assert _LONG_FILES - long == set(), "these files are short now: take them off the list"


def test_no_other_function_has_a_body_of_more_than_30_lines() -> None:
    long = _long_functions()
    assert long - _LONG_FUNCTIONS == set(), "cut these functions where it helps a reader"
    assert _LONG_FUNCTIONS - long == set(), "these are short now: take them off the list"


def test_signature_and_docstring_do_not_count() -> None:
    source = [
        "class A:",
        "    def f(",
        "        self,",
        "    ):",
        '        """Text."""',
        "        x = 1",
        "        return x",
    ]
    assert list(_bodies(ast.parse("\n".join(source)))) == [("A.f", 2)]
