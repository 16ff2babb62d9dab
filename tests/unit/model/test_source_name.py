"""The source of an instance that is meant."""

import pytest

from relay.errors import SourceNotNamed
from relay.model.names.source_name import source_named


def test_a_single_source_need_not_be_named_and_goes_by_the_instances_name() -> None:
    assert [source_named("shop", (), wanted) for wanted in (None, "", "shop")] == ["", "", ""]
    with pytest.raises(SourceNotNamed, match="single source, which is not called first"):
        source_named("shop", (), "first")


def test_the_source_of_a_group_is_named() -> None:
    assert source_named("shop", ("first", "second"), "second") == "second"
    for wanted in (None, "", "shop", "third"):
        with pytest.raises(SourceNotNamed, match="first, second") as refused:
            source_named("shop", ("first", "second"), wanted)
        assert refused.value.known == ("first", "second")
