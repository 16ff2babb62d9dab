"""Compiles relay/compiled while the project is installed; without Cython or a C compiler the readable packages do the work."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_PACKAGE = Path("relay") / "compiled"
_MODULES = ("event_scanner", "row_printer", "block_sender")
_COMPILE_SECONDS = 300


class CompiledModules(BuildHookInterface[Any]):
    """Leaves the compiled modules beside their sources, and takes them into the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile; a failure is told and is none of the installation."""
        root = Path(self.root)
        try:
            libraries = _compiled(root)
        except (OSError, subprocess.SubprocessError) as exc:
            for name in _MODULES:
                for old in (root / _PACKAGE).glob(f"{name}.*.so"):
                    old.unlink()  # it may be of another source
            self.app.display_warning(f"Nothing was compiled, the relay will be slower: {exc}")
            return
        build_data["artifacts"].extend(f"/{library.as_posix()}" for library in libraries)
        build_data["pure_python"] = False
        build_data["infer_tag"] = True


def _compiled(root: Path) -> list[Path]:
    """Build in a folder of its own, so that nothing but the modules comes into the project; return their paths there."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / _PACKAGE).mkdir(parents=True)
        for package in _PACKAGE, _PACKAGE.parent:
            (folder / package / "__init__.py").touch()
        sources = [str(_PACKAGE / f"{module}.pyx") for module in _MODULES]
        for source in [*sources, *(f"{_PACKAGE}/{part.name}" for part in (root / _PACKAGE).glob("*.px[di]"))]:
            shutil.copy2(root / source, folder / source)
        command = [sys.executable, "-m", "Cython.Build.Cythonize", "--inplace", "-3", *sources]
        environment = {**os.environ, "CFLAGS": "-O2 -g0"}
        ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=_COMPILE_SECONDS, check=False)
        built = [library for module in _MODULES for library in (folder / _PACKAGE).glob(f"{module}.*.so")]
        if ran.returncode != 0 or len(built) < len(_MODULES):
            raise OSError((ran.stderr or ran.stdout).strip()[-2000:] or "no module came out")
        return [_moved(library, root) for library in built]


def _moved(library: Path, root: Path) -> Path:
    """Put it in its place in one step: a relay that starts now must not load half of it."""
    unfinished = root / _PACKAGE / f".{library.name}.{os.getpid()}"
    shutil.copy2(library, unfinished)
    unfinished.replace(root / _PACKAGE / library.name)
    return _PACKAGE / library.name
