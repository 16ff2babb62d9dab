"""The arithmetic behind a switch: what a server lacks, what is gone, what is errant, and where
reading goes on after a loss.
"""

from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from relay.model.positions.executed import Executed
from relay.model.positions.gtid import GtidSet
from relay.model.standby_transactions import (
    StandbyTransactions,
    errant_in_domains,
    errant_transactions,
    standby_transactions,
)

M: Final = "11111111-1111-1111-1111-111111111111"
S: Final = "22222222-2222-2222-2222-222222222222"


def _holds(proof: StandbyTransactions) -> bool:
    """Whether the server can be read next without the loss of a transaction."""
    return proof.lacking.empty and proof.gone.empty


def test_what_lacks_is_counted_and_named() -> None:
    proof = standby_transactions(
        f"{M}:1-100,{S}:1-3", "", Executed.parse(f"{M}:1-40:50-90,{S}:1-3"), ""
    )
    assert (str(proof.lacking), proof.behind, _holds(proof)) == (f"{M}:41-49:91-100", 19, False)


def test_a_tag_is_a_row_of_numbers_of_its_own() -> None:
    proof = standby_transactions(f"{M}:1-5:batch:1-2", "", Executed.parse(f"{M}:1-5:batch:1"), "")
    assert (str(proof.lacking), proof.behind) == (f"{M}:batch:2", 1)


def test_what_is_purged_before_it_was_published_is_gone() -> None:
    proof = standby_transactions(f"{M}:1-10", "", Executed.parse(f"{M}:1-30"), f"{M}:1-20")
    assert (proof.behind, str(proof.gone), _holds(proof)) == (0, f"{M}:11-20", False)
    assert _holds(
        standby_transactions(
            f"{M}:1-10", "", Executed.parse(f"{M}:1-30"), f"{M}:1-20", f"{M}:11-20"
        )
    )


def test_a_mysql_server_goes_on_behind_what_it_has() -> None:
    assert str(Executed.parse(f"{M}:1-7,{S}:1-4").kept_of(GtidSet.parse(f"{M}:1-10"))) == f"{M}:1-7"


def test_a_mariadb_server_goes_on_at_its_own_end_of_the_domain() -> None:
    assert (
        str(Executed.parse("0-2-8,1-1-5").kept_of(GtidSet.parse("0-1-10,1-1-5,2-1-2")))
        == "0-2-8,1-1-5"
    )


def test_errant_transactions_are_those_that_replication_did_not_bring() -> None:
    assert str(errant_transactions(f"{M}:1-12,{S}:1-2", f"{M}:1-10", M)) == f"{S}:1-2"
    assert errant_transactions(f"{M}:1-12", f"{M}:1-10", M).empty
    assert errant_in_domains("0-1-12,0-2-14,7-2-1", "0-1-10", 1) == ("0-2-14", "7-2-1")
    assert errant_in_domains("0-1-12,0-2-9", "0-1-13,0-2-9", 1) == ()


def test_a_mariadb_domain_out_of_order_is_known_by_the_server_that_wrote() -> None:
    held = Executed.parse("0-31-23", "0-32-48,0-31-23")
    assert held.lacking(GtidSet.parse("0-32-48")).empty
    assert str(held.lacking(GtidSet.parse("0-31-24"))) == "0-31-24"
    assert str(held.lacking(GtidSet.parse("0-33-1"))) == "0-33-1"
    assert standby_transactions("0-31-25", "", held, "").behind == 2
    assert (
        str(Executed.parse("0-32-48", "0-31-23,0-32-48").kept_of(GtidSet.parse("0-31-30")))
        == "0-31-23"
    )


def test_a_number_that_another_transaction_has_taken_cannot_arrive_under_strict_mode() -> None:
    state = "0-31-50,0-32-51"
    strict = standby_transactions("0-31-51", "", Executed.parse("0-32-51", state, strict=True), "")
    assert (strict.behind, str(strict.passed), _holds(strict)) == (0, "0-31-51", False)
    loose = standby_transactions("0-31-51", "", Executed.parse("0-32-51", state), "")
    assert (loose.behind, loose.passed.empty, _holds(loose)) == (1, True, False)


def test_a_loss_is_accepted_by_the_id_of_the_same_server_alone() -> None:
    held = Executed.parse("0-31-23", "0-32-40,0-31-23")
    assert not _holds(standby_transactions("0-32-48", "", held, "", "0-31-60"))
    assert not _holds(standby_transactions("0-32-48", "", held, "", "0-32-47"))
    assert _holds(standby_transactions("0-32-48", "", held, "", "0-32-48"))


numbers = st.sets(st.integers(1, 30))


def text(held: set[int]) -> str:
    return ",".join(f"{M}:{number}" for number in held)


@given(numbers, numbers, numbers, numbers)
def test_the_proof_is_the_one_of_plain_sets(
    published: set[int], executed: set[int], purged: set[int], accepted: set[int]
) -> None:
    proof = standby_transactions(
        text(published), "", Executed.parse(text(executed)), text(purged), text(accepted)
    )
    assert proof.behind == len(published - executed - accepted)
    assert proof.gone == GtidSet.parse(text(purged - published - accepted))
    assert Executed.parse(text(executed)).kept_of(GtidSet.parse(text(published))) == GtidSet.parse(
        text(published & executed)
    )
