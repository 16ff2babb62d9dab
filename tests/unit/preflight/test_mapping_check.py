"""`roma mapping check`: the documents together, without a server."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from relay.cli import app

GOOD = {
    "dbs": '[{"logicDb":"shop","realDbs":"shop_01,shop_02"}]',
    "tbs": '[{"logicTb":"orders","realTbs":"/orders_\\\\d{4}/"}]',
    "topics": '[{"logicDb":"shop","topic":"shop"}]',
    "tags": '[{"logicTb":"orders","tag":"o"}]',
}


def write(folder: Path, **documents: str) -> Path:
    for word, body in {**GOOD, **documents}.items():
        (folder / f"com.pajk.Roma.{word}.json").write_text(body, encoding="utf-8")
    return folder


def check(*places: Path) -> tuple[int, str]:
    ran = CliRunner().invoke(app, ["mapping", "check", *map(str, places)])
    return ran.exit_code, ran.output


def test_good_documents_pass_as_a_folder_and_one_by_one(tmp_path: Path) -> None:
    folder = write(tmp_path)
    assert check(folder)[0] == 0
    assert check(*sorted(folder.iterdir())) == check(folder)
    assert check(folder)[1].endswith(": no problems.\n")


def test_every_problem_is_told_with_its_place(tmp_path: Path) -> None:
    code, said = check(
        write(
            tmp_path,
            topics='[{"logicDb":"other","topic":"not a topic"}]',
            tags='[{"logicTb":"orders,a","tag":"o"}]',
        )
    )
    assert code == 1
    places = [line.partition(":")[0] for line in said.splitlines()]
    assert places == [
        "com.pajk.Roma.topics at /0/topic",
        "com.pajk.Roma.tags at /0/tag",
        *["com.pajk.Roma.dbs at /0/logicDb"],
    ]


def test_what_is_not_json_is_told(tmp_path: Path) -> None:
    code, said = check(write(tmp_path, dbs="[{"))
    assert code == 1
    assert said.startswith("com.pajk.Roma.dbs at its top: The document is not JSON")


def test_short_names_do(tmp_path: Path) -> None:
    (tmp_path / "dbs.json").write_text(GOOD["dbs"], encoding="utf-8")
    (tmp_path / "topics.json").write_text(GOOD["topics"], encoding="utf-8")
    assert check(tmp_path)[0] == 0


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["other.json"], "is not the name of a mapping document"),
        (["dbs.json", "com.pajk.Roma.dbs"], "is a second document"),
        ([], "No mapping document"),
    ],
)
def test_files_that_cannot_be_told_apart_are_refused(
    tmp_path: Path, names: list[str], sentence: str
) -> None:
    for name in names:
        (tmp_path / name).write_text("[]", encoding="utf-8")
    code, said = check(*([tmp_path / name for name in names] or [tmp_path]))
    assert code == 2
    assert sentence in said


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    code, said = check(tmp_path / "dbs.json")
    assert code == 2
    assert "dbs.json cannot be read" in said
