"""The jobs call themselves as `roma` calls them."""

from collections.abc import Callable

import pytest

from spark_jobs import bootstrap, dedup_batch, dedup_stream, reconcile


@pytest.mark.parametrize(
    ("main", "name"),
    [
        (dedup_stream.main, "roma dedup stream"),
        (dedup_batch.main, "roma dedup batch"),
        (bootstrap.main, "roma bootstrap"),
        (reconcile.main, "roma reconcile"),
    ],
)
def test_help_names_the_command(
    main: Callable[[list[str]], int], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert capsys.readouterr().out.startswith(f"usage: {name} ")
