"""Variables in settings: anywhere in a file, in documents only in secret fields and only those that
are named.
"""

from pathlib import Path

import pytest

from relay.errors import ConfigurationError
from relay.kafka import client_configuration
from relay.settings import (
    InstanceSettings,
    RelaySettings,
    RunTimeVariables,
    instance_settings,
    load_settings,
)

FILE = """
[kafka]
bootstrap_servers = "k:9092"
password = "${KAFKA_PASSWORD}"
[kafka.client]
"sasl.username" = "relay"
"ssl.key.password" = "${KEY_PASSWORD}"
"ssl.keystore.password" = "written out"
[zookeeper]
hosts = "z:2181"
"""


def loaded(folder: Path, text: str) -> RelaySettings:
    file = folder / "relay.toml"
    file.write_text(text, encoding="utf-8")
    return load_settings(file)


def document(**source: object) -> InstanceSettings:
    fields = {"name": "x", "source": {"host": "h", "user": "u", **source}}
    return instance_settings(fields, "Instance x", RunTimeVariables(("SHOP_*",)))


@pytest.mark.parametrize("field", ["host", "user", "tls_ca"])
def test_a_document_takes_variables_in_secret_fields_alone(
    field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_HOST", "the-secret")
    with pytest.raises(
        ConfigurationError, match=f"{field} names the environment variable SHOP_HOST"
    ) as caught:
        document(**{field: "${SHOP_HOST}"})
    assert "the-secret" not in str(caught.value)


def test_a_document_takes_variables_that_are_named_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_PASSWORD", "p")
    monkeypatch.setenv("ADMIN_TOKEN", "t")
    assert document(password="${SHOP_PASSWORD}").source.password.get_secret_value() == "p"
    with pytest.raises(ConfigurationError, match=r'add "ADMIN_TOKEN" to secrets\.run_time'):
        document(password="${ADMIN_TOKEN}")
    with pytest.raises(ConfigurationError, match="SHOP_OTHER, which is not set"):
        document(password="${SHOP_OTHER}")


def test_options_of_claims_take_them_where_they_are_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "k")
    fields = {
        "name": "x",
        "source": {"host": "h", "user": "u"},
        "claims": {"options": {"key": "${SHOP_KEY}"}},
    }
    found = instance_settings(fields, "", RunTimeVariables(("SHOP_*",)))
    assert "'k'" not in repr(found)
    fields["claims"] = {"options": {"endpoint_url": "${SHOP_KEY}"}}
    with pytest.raises(
        ConfigurationError, match="endpoint_url names the environment variable SHOP_KEY"
    ):
        instance_settings(fields, "", RunTimeVariables(("SHOP_*",)))


def test_what_may_be_secret_of_kafka_is_never_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKA_PASSWORD", "of-login")
    monkeypatch.setenv("KEY_PASSWORD", "of-key")
    kafka = loaded(tmp_path, FILE).kafka
    for secret in ("of-login", "of-key", "written out"):
        assert secret not in repr(kafka)
        assert secret not in kafka.model_dump_json()
    found = client_configuration(kafka)
    assert found["sasl.username"] == "relay"
    assert found["ssl.key.password"] == "of-key"
    assert found["ssl.keystore.password"] == "written out"
    assert found["sasl.password"] == "of-login"


def test_a_file_of_the_folder_wins_and_is_read_at_each_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKA_PASSWORD", "of the environment")
    monkeypatch.setenv("KEY_PASSWORD", "k")
    secret = tmp_path / "KAFKA_PASSWORD"
    secret.write_text("first\n", encoding="utf-8")
    text = f'{FILE}\n[secrets]\nfolder = "{tmp_path}"\n'
    kafka = loaded(tmp_path, text).kafka
    assert client_configuration(kafka)["sasl.password"] == "first"
    secret.write_text("second\n", encoding="utf-8")
    assert client_configuration(kafka)["sasl.password"] == "second"
    assert kafka == loaded(tmp_path, text).kafka
    secret.unlink()
    monkeypatch.delenv("KAFKA_PASSWORD")
    assert client_configuration(kafka)["sasl.password"] == "second"
    with pytest.raises(ConfigurationError, match="KAFKA_PASSWORD"):
        loaded(tmp_path, text)


def test_a_file_takes_variables_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_PASSWORD", "p")
    monkeypatch.setenv("KEY_PASSWORD", "k")
    monkeypatch.setenv("SERVER", "relay-1")
    assert (
        loaded(tmp_path, f'{FILE}\n[placement]\nserver = "${{SERVER}}"\n').placement.server
        == "relay-1"
    )
