"""`make wheels`: deploy/wheels/build.sh copies sources and builds a wheel from the copy."""

import re
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[3]
_SCRIPT = _ROOT / "deploy" / "wheels" / "build.sh"


def _packages() -> set[str]:
    settings = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return set(settings["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"])


def test_it_copies_every_package_of_the_wheel_without_what_is_compiled(tmp_path: Path) -> None:
    function = re.search(
        r"^copy_sources\(\) \{.*?^\}", _SCRIPT.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert function is not None
    command = ["bash", "-euc", f'{function[0]}\ncopy_sources "$1"', "bash", str(tmp_path)]
    subprocess.run(command, cwd=_ROOT, check=True, timeout=60)
    assert {each.name for each in tmp_path.iterdir() if each.is_dir()} == _packages()
    assert (tmp_path / "hatch_build.py").is_file()
    assert not list(tmp_path.rglob("*.so"))


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.skipif(
    not Path(sysconfig.get_path("include"), "Python.h").exists(), reason="no headers of Python"
)
def test_it_builds_a_wheel_for_an_old_glibc(tmp_path: Path) -> None:
    subprocess.run(
        ["bash", str(_SCRIPT), str(tmp_path), sys.executable],
        check=True,
        capture_output=True,
        timeout=850,
    )
    (wheel,) = tmp_path.glob("*manylinux_2_17*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == _packages()
    assert [name for name in names if "row_printer" in name and name.endswith(".so")]
