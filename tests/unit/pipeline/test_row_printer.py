"""Which way rows are printed, as the status says it."""

from typing import Any

import pytest

from relay.compiled import COMPILED
from relay.pipeline import table_plan
from relay.pipeline.table_plan import row_printer
from relay.settings import MessageSettings


def test_by_default_it_is_the_compiled_one_where_it_is_built() -> None:
    assert row_printer(MessageSettings()) == ("compiled" if COMPILED else "generated")


@pytest.mark.parametrize("settings", [{"value_style": "canal"}, {"tombstones": True}])
def test_settings_that_it_does_not_print_take_the_readable_one(settings: dict[str, Any]) -> None:
    assert row_printer(MessageSettings(**settings)) == "readable"


def test_without_a_compiler_code_is_generated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_plan, "COMPILED", False)
    assert row_printer(MessageSettings()) == "generated"
