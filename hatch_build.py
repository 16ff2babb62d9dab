"""Compiles the row printer while the project is installed; without Cython or a C compiler the readable rooms do its work."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_PACKAGE = Path("relay") / "compiled"
_SOURCE = _PACKAGE / "row_printer.pyx"
_COMPILE_SECONDS = 300


class CompiledRowPrinter(BuildHookInterface[Any]):
    """Leaves the compiled module beside its source, and takes it into the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile; a failure is told and is none of the installation."""
        try:
            library = _compiled(Path(self.root))
        except (OSError, subprocess.SubprocessError) as exc:
            for old in (Path(self.root) / _PACKAGE).glob("row_printer.*.so"):
                old.unlink()  # it may be of another source
            self.app.display_warning(f"The row printer was not compiled, the relay will be slower: {exc}")
            return
        build_data["artifacts"].append(f"/{library.as_posix()}")
        build_data["pure_python"] = False
        build_data["infer_tag"] = True


def _compiled(root: Path) -> Path:
    """Build in a folder of its own, so that nothing but the module comes into the project; return its path there."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / _PACKAGE).mkdir(parents=True)
        for package in _PACKAGE, _PACKAGE.parent:
            (folder / package / "__init__.py").touch()
        shutil.copy2(root / _SOURCE, folder / _SOURCE)
        command = [sys.executable, "-m", "Cython.Build.Cythonize", "--inplace", "-3", str(_SOURCE)]
        environment = {**os.environ, "CFLAGS": "-O2 -g0"}
        ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=_COMPILE_SECONDS, check=False)
        built = list((folder / _PACKAGE).glob("row_printer.*.so"))
        if ran.returncode != 0 or not built:
            raise OSError((ran.stderr or ran.stdout).strip()[-2000:] or "no module came out")
        unfinished = root / _PACKAGE / f".{built[0].name}.{os.getpid()}"
        shutil.copy2(built[0], unfinished)
        unfinished.replace(root / _PACKAGE / built[0].name)
    return _PACKAGE / built[0].name
