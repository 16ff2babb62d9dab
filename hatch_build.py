"""Compiles relay/compiled while the project is installed.

Without Cython or a C compiler the readable packages do the work.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_PACKAGE = Path("relay") / "compiled"
_COMPILE_SECONDS = 300
_PLATFORM = "ROMA_WHEEL_PLATFORM"
"""Environment variable of `make wheels`: the platform tag of the wheel, which must then hold
compiled modules.
"""
_KEPT = "ROMA_COMPILED_MODULES"
"""Environment variable of `make setup`: a folder that keeps compiled modules. Another checkout of
the same sources takes them from it, which saves half a minute of two cores.
"""
_FLAGS = "-O2 -g0"


class CompiledModules(BuildHookInterface[Any]):
    """Leaves the compiled modules beside their sources, and takes them into the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the modules. If that fails, warn and install without them."""
        root = Path(self.root)
        platform = os.environ.get(_PLATFORM)
        try:
            libraries = compiled(root)
        except (OSError, subprocess.SubprocessError) as exc:
            if platform:
                raise
            _remove_old(root, [])
            self.app.display_warning(f"Nothing was compiled, the relay will be slower: {exc}")
            return
        _remove_old(root, libraries)
        build_data["artifacts"].extend(f"/{library.as_posix()}" for library in libraries)
        build_data["pure_python"] = False
        if platform:
            python = f"cp{sys.version_info.major}{sys.version_info.minor}"
            build_data["tag"] = f"{python}-{python}-{platform}"
        else:
            build_data["infer_tag"] = True


def _remove_old(root: Path, libraries: list[Path]) -> None:
    """Remove libraries of an earlier build whose source has moved or has changed."""
    for found in (root / _PACKAGE).rglob("*.so"):
        if found.relative_to(root) not in libraries:
            found.unlink()


def compiled(root: Path) -> list[Path]:
    """Put the compiled modules beside their sources; return their paths in the project."""
    parts = sorted(
        file.relative_to(root)
        for file in (root / _PACKAGE).rglob("*")
        if file.suffix in (".pyx", ".pxd")
    )
    modules = [part for part in parts if part.suffix == ".pyx"]
    kept = _kept_folder(root, parts)
    if kept is not None and len(built := _built(kept, modules)) == len(modules):
        _take(kept, built, root)
        return built
    # Compiled in a temporary folder, so that the project gets the libraries and nothing else.
    with TemporaryDirectory() as name:
        folder = Path(name)
        built = compile_modules(root, parts, modules, folder)
        _take(folder, built, root)
        if kept is not None:
            with suppress(OSError):
                _keep(folder, built, kept)
    return built


def _kept_folder(root: Path, parts: list[Path]) -> Path | None:
    """Return the folder for these sources, this Python and this compiler, which may be missing.

    None if modules are not kept, or the environment chooses another compiler.
    """
    folder, compiler = os.environ.get(_KEPT), shutil.which(_compiler())
    if not folder or compiler is None or os.environ.get(_PLATFORM) or os.environ.get("CC"):
        return None
    ran = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
    key = hashlib.sha256()
    for text in (ran.stdout, version("cython"), sys.version, _FLAGS, _suffix()):
        key.update(text.encode() + b"\0")
    for part in parts:
        key.update(part.as_posix().encode() + b"\0" + (root / part).read_bytes() + b"\0")
    return Path(folder) / key.hexdigest()[:16]


def _compiler() -> str:
    """Return the name of the compiler that extension modules are built with."""
    return str(sysconfig.get_config_var("CC") or "cc").split()[0]


def _suffix() -> str:
    """Return the end of the names of libraries, which has this Python's version and machine."""
    return str(sysconfig.get_config_var("EXT_SUFFIX"))


def _built(folder: Path, modules: list[Path]) -> list[Path]:
    """Return the libraries of these modules that a folder has, by their paths in it."""
    found = [module.with_name(f"{module.stem}{_suffix()}") for module in modules]
    return [library for library in found if (folder / library).is_file()]


def compile_modules(root: Path, parts: list[Path], modules: list[Path], folder: Path) -> list[Path]:
    """Copy the sources to a folder and compile them; return the libraries' paths in it."""
    for part in parts:
        for package in list(part.parents)[:-1]:
            (folder / package).mkdir(parents=True, exist_ok=True)
            (folder / package / "__init__.py").touch()
        shutil.copy2(root / part, folder / part)
    cythonize = ["-m", "Cython.Build.Cythonize", "--inplace", "--parallel", "2", "-3"]
    ran = subprocess.run(
        [sys.executable, *cythonize, *map(str, modules)],
        cwd=folder,
        env={**os.environ, "CFLAGS": _FLAGS},
        capture_output=True,
        text=True,
        timeout=_COMPILE_SECONDS,
        check=False,
    )
    built = _built(folder, modules)
    if ran.returncode != 0 or len(built) < len(modules):
        raise OSError((ran.stderr or ran.stdout).strip()[-2000:] or "no module came out")
    return built


def _keep(folder: Path, built: list[Path], kept: Path) -> None:
    """Copy the libraries to the folder that keeps them; other builds see it only when complete."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(mkdtemp(prefix=f".{kept.name}.", dir=kept.parent))
    try:
        for library in built:
            (unfinished / library).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(folder / library, unfinished / library)
        unfinished.rename(kept)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _take(folder: Path, built: list[Path], root: Path) -> None:
    """Copy the libraries from a folder to their places in the project."""
    for library in built:
        _move(folder / library, root / library)


def _move(library: Path, to: Path) -> None:
    """Put it in its place in one step: a relay that starts now must not load half of it."""
    unfinished = to.with_name(f".{to.name}.{os.getpid()}")
    shutil.copy2(library, unfinished)
    unfinished.replace(to)
