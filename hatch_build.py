"""Compiles relay/compiled while the project is installed.

Without Cython or a C compiler the readable packages do the work.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_PACKAGE = Path("relay") / "compiled"
_COMPILE_SECONDS = 300
_PLATFORM = "ROMA_WHEEL_PLATFORM"
"""Environment variable of `make wheels`: the platform tag of the wheel, which must then hold
compiled modules.
"""


class CompiledModules(BuildHookInterface[Any]):
    """Leaves the compiled modules beside their sources, and takes them into the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the modules. If that fails, warn and install without them."""
        root = Path(self.root)
        platform = os.environ.get(_PLATFORM)
        try:
            libraries = _compiled(root)
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


def _compiled(root: Path) -> list[Path]:
    """Compile in a temporary folder, so that the project gets the libraries and nothing else.

    Return their paths in the project.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        parts = [
            file.relative_to(root)
            for file in (root / _PACKAGE).rglob("*")
            if file.suffix in (".pyx", ".pxd")
        ]
        for part in parts:
            for package in list(part.parents)[:-1]:
                (folder / package).mkdir(parents=True, exist_ok=True)
                (folder / package / "__init__.py").touch()
            shutil.copy2(root / part, folder / part)
        modules = sorted(part for part in parts if part.suffix == ".pyx")
        command = [
            sys.executable,
            "-m",
            "Cython.Build.Cythonize",
            "--inplace",
            "--parallel",
            "2",
            "-3",
            *map(str, modules),
        ]
        environment = {**os.environ, "CFLAGS": "-O2 -g0"}
        ran = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_COMPILE_SECONDS,
            check=False,
        )
        built = [
            library.relative_to(folder)
            for module in modules
            for library in (folder / module.parent).glob(f"{module.stem}.*.so")
        ]
        if ran.returncode != 0 or len(built) < len(modules):
            raise OSError((ran.stderr or ran.stdout).strip()[-2000:] or "no module came out")
        for library in built:
            _move(folder / library, root / library)
        return built


def _move(library: Path, to: Path) -> None:
    """Put it in its place in one step: a relay that starts now must not load half of it."""
    unfinished = to.with_name(f".{to.name}.{os.getpid()}")
    shutil.copy2(library, unfinished)
    unfinished.replace(to)
