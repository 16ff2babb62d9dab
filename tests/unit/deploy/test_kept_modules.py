"""`make setup` keeps compiled modules: another checkout of the same sources compiles nothing."""

from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from relay.compiled import COMPILED

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not COMPILED, reason="nothing is compiled here"),
]
_SOURCE = "def answer():\n    return 42\n"
Checkout = Callable[[str, str], Path]


class _CompiledAgain(Exception):
    pass


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setenv("ROMA_COMPILED_MODULES", str(tmp_path / "kept"))
    monkeypatch.delenv("CC", raising=False)
    spec = spec_from_file_location("hatch_build", Path(__file__).parents[3] / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    def make(name: str, source: str) -> Path:
        folder = tmp_path / name / "relay" / "compiled"
        folder.mkdir(parents=True)
        (folder / "tiny.pyx").write_text(source)
        return tmp_path / name

    return make


def test_the_same_sources_are_compiled_once_and_others_again(
    build: ModuleType, checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = checkout("first", _SOURCE)
    (library,) = build.compiled(first)

    def refuse(*_: object) -> None:
        raise _CompiledAgain

    monkeypatch.setattr(build, "compile_modules", refuse)
    second = checkout("second", _SOURCE)
    assert build.compiled(second) == [library]
    assert (second / library).read_bytes() == (first / library).read_bytes()
    with pytest.raises(_CompiledAgain):
        build.compiled(checkout("other", _SOURCE.replace("42", "43")))
    for kept in (tmp_path / "kept").iterdir():
        (kept / library).unlink()
    with pytest.raises(_CompiledAgain):
        build.compiled(checkout("incomplete", _SOURCE))
    monkeypatch.setenv("CC", "another compiler")
    with pytest.raises(_CompiledAgain):
        build.compiled(checkout("chosen", _SOURCE))
