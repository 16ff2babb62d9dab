"""Relays whose documents name no server: no order and no preference means them."""

from relay.ha import Assignment, ClusterView, Member, Why, assign


def test_instances_are_spread_over_relays_with_and_without_a_server() -> None:
    instances = frozenset({"i0", "i1"})
    members = (Member("r0", "", instances), Member("r1", "s1", instances))
    assert assign(ClusterView(members, leaders={"i0": "r0", "i1": "r0"})) == {
        "i0": Assignment("r0", "r1", Why.BALANCE),
        "i1": Assignment("r0", "r0", Why.STAYS),
    }
