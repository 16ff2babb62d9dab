"""What a stranger gets with `pip install roma-relay[relay,api]`."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from configparser import ConfigParser
from email.parser import Parser
from pathlib import Path

import pytest

from deploy.embedded.cache import cache_folder
from relay.compiled import COMPILED

pytestmark = pytest.mark.slow
_ROOT = Path(__file__).parents[3]
_PACKAGES = {"relay", "api", "spark_jobs", "roma_client", "canal_server"}
# Nobody imports these by name: what needs them is named behind.
_INDIRECT = {
    "fastapi-offline": "only its files are used, by the pages of the admin",
    "cryptography": "pymysql, for caching_sha2_password and sha256_password without TLS",
    "s3fs": "fsspec's own driver for s3://",
    "delta-spark": "the jars of Delta Lake belong to its version",
    "pure-sasl": "kazoo, for SASL",
    "attrs": "confluent-kafka, for its client of schema registries",
    "cachetools": "confluent-kafka, for its client of schema registries",
    "certifi": "confluent-kafka, for its client of schema registries",
    "pynacl": "pymysql, for ed25519 of MariaDB",
}
_IMPORT_NAMES = {
    "google-re2": "re2",
    "mysql-replication": "pymysqlreplication",
    "prometheus-client": "prometheus_client",
    "confluent-kafka": "confluent_kafka",
    "argon2-cffi": "argon2",
    "protobuf": "google",
}


def _pip(command: str, *arguments: str) -> None:
    """Run pip without a network and without the packages that the environment holds already."""
    options = ["--quiet", "--no-deps", "--no-index"]
    subprocess.run(
        [sys.executable, "-m", "pip", command, *options, *arguments],
        check=True,
        capture_output=True,
        timeout=360,
        env={**os.environ, "ROMA_COMPILED_MODULES": str(cache_folder() / "compiled")},
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built without a network by the backend that stands in the environment.

    The modules are those that `make setup` compiled from the same sources.
    """
    folder = tmp_path_factory.mktemp("wheel")
    _pip("wheel", "--no-build-isolation", "--wheel-dir", str(folder), str(_ROOT))
    return next(folder.glob("*.whl"))


def test_it_holds_the_five_packages_whole_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == _PACKAGES
    tree = {
        str(file.relative_to(_ROOT))
        for package in _PACKAGES
        for file in (_ROOT / package).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert tree <= names
    assert not [name for name in names if name.endswith(".pyc")]


def test_its_extras_and_its_command_are_there(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        folder = next(name.split("/")[0] for name in archive.namelist() if ".dist-info/" in name)
        metadata = Parser().parsestr(archive.read(f"{folder}/METADATA").decode())
        commands = ConfigParser()
        commands.read_string(archive.read(f"{folder}/entry_points.txt").decode())
    extras = ["api", "avro", "canal-server", "client", "protobuf", "relay", "s3", "spark"]
    assert metadata.get_all("Provides-Extra") == extras
    assert dict(commands["console_scripts"]) == {"roma": "relay.__main__:main"}


def test_it_works_from_a_fresh_folder(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "installed"
    _pip("install", "--target", str(target), str(wheel))
    program = (
        "import relay.app, relay.cli, api.app, relay.envelope; print(relay.app.__file__, "
        "api.app.__file__)"
    )
    command = [sys.executable, "-c", program]
    environment = {"PYTHONPATH": str(target)}
    ran = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert all(Path(each).is_relative_to(target) for each in ran.stdout.split())


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled here")
def test_compiled_modules_run_where_no_compiler_is(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "fresh"
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True, timeout=60
    )
    python = str(environment / "bin" / "python")
    command = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        str(wheel),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=60, env={"PATH": ""})
    program = (
        "import relay.compiled.row_printer; from relay.compiled import CODE; print(CODE.usable, "
        "CODE.reason, relay.__file__)"
    )
    ran = subprocess.run(
        [python, "-c", program],
        cwd=tmp_path,
        env={"PATH": ""},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    usable, *_, file = ran.stdout.split()
    assert usable == "True", ran.stdout
    assert Path(file).is_relative_to(environment)


def test_executors_find_the_jobs_in_it_under_the_name_that_spark_takes(
    wheel: Path, tmp_path: Path
) -> None:
    archive = tmp_path / "roma_relay.zip"
    archive.write_bytes(wheel.read_bytes())
    program = (
        "import spark_jobs.transforms, relay.envelope; print(spark_jobs.transforms.__file__, "
        "relay.envelope.__file__)"
    )
    command = [sys.executable, "-c", program]
    environment = {"PYTHONPATH": str(archive)}
    ran = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert all(each.startswith(f"{archive}/") for each in ran.stdout.split())


def test_every_requirement_of_an_extra_is_imported() -> None:
    extras = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    asked = {
        re.split(r"[\[<>=!~; ]", line)[0] for lines in extras.values() for line in lines
    } - set(_INDIRECT)
    source = "\n".join(
        file.read_text(encoding="utf-8")
        for package in _PACKAGES
        for file in (_ROOT / package).rglob("*.py")
    )
    assert not [
        name
        for name in asked
        if not re.search(
            rf"^\s*(?:import|from) {_IMPORT_NAMES.get(name, name)}\b", source, re.MULTILINE
        )
    ]
