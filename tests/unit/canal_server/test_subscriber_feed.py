"""What a session does while it delivers nothing."""

from unittest.mock import Mock

from canal_server.figures import ClientFigures
from canal_server.subscriber_feed import SubscriberFeed
from relay.settings import CanalServerSettings
from roma_client.canal import EMPTY_ID, CanalConnector
from roma_client.records.canal_batches import BatchesOut


def test_a_client_that_polls_at_the_limit_of_rows_stays_in_its_group() -> None:
    out = Mock(spec=BatchesOut, changes=3, ids=(1,))
    connector = Mock(spec=CanalConnector, batches_out=out)
    settings = CanalServerSettings.model_validate(
        {"destinations": [{"name": "example"}], "rows_out": 3}
    )
    figures = ClientFigures("example", "1001")
    session = SubscriberFeed(connector, settings, figures, interrupted=lambda: True)
    session.subscribe("", "")
    for _ in range(2):
        assert session.get(10, 1.0).id == EMPTY_ID
    assert connector.keep_membership.call_count == 2
    connector.get_without_ack.assert_not_called()
