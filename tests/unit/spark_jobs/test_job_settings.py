from pathlib import Path

import pytest

from spark_jobs.config.job import load_settings
from spark_jobs.errors import JobConfigurationError

GOOD = (
    'copy_root = "hdfs://name/copies"\n[kafka]\nbootstrap_servers = "k:9092"\ntopics = ["shop"]\n'
)


def written(folder: Path, text: str) -> Path:
    file = folder / "job.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_uri_stays_as_it_is(tmp_path: Path) -> None:
    assert load_settings(written(tmp_path, GOOD)).copy_root == "hdfs://name/copies"


def test_a_secret_comes_from_the_environment_and_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOB_JAAS", "login required password='p'")
    settings = load_settings(written(tmp_path, GOOD + 'jaas = "${JOB_JAAS}"\n'))
    assert settings.kafka.jaas is not None
    assert settings.kafka.jaas.get_secret_value() == "login required password='p'"
    assert "password" not in repr(settings)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("copy_root = ", "is not TOML: "),
        (
            GOOD + 'jaas = "${NOT_THERE}"\n',
            "names the environment variable NOT_THERE, which is not set; set it. ",
        ),
        (GOOD.replace('["shop"]', "[]"), "kafka.topics: Tuple should have at least 1 item"),
        (
            "triger_seconds = 1\n" + GOOD,
            "triger_seconds: This key is not known here; did you mean 'trigger_seconds'?",
        ),
        (
            'row_images = "merge"\nraw_rule = true\n' + GOOD,
            "row_images = 'merge' needs the order key and",
        ),
        (
            GOOD.replace("/copies", "/copies [{new}]"),
            "copy_root: Value error, Spark treats [ ] { } in a path as a pattern",
        ),
        (
            "checkpoint = '/data/*'\n" + GOOD,
            "checkpoint: Value error, Spark treats * in a path as a pattern",
        ),
        ("trigger_seconds = 0\n" + GOOD, "trigger_seconds: Input should be greater than 0"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(JobConfigurationError) as caught:
        load_settings(written(tmp_path, text))
    assert sentence in str(caught.value)
    assert str(caught.value).endswith("Correct the configuration file and start again.")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(JobConfigurationError, match=r"job\.toml cannot be read: No such file"):
        load_settings(tmp_path / "job.toml")
