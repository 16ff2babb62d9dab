"""The buffers of a connection are those of the settings, for queries and for the dump."""

import socket
from contextlib import closing

from deploy.embedded import SqlServer
from relay.source.protocol.connection import SourceConnection
from tests.support.sources.source_reading import source_settings


def test_the_sizes_of_the_settings_are_the_sockets(database: SqlServer) -> None:
    settings = source_settings(database, receive_buffer_bytes=16384, send_buffer_bytes=8192)
    with closing(SourceConnection(settings)) as connection:
        taken = connection.taken_over()
        # Linux keeps twice what is asked for, and shows that.
        assert taken.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) in (16384, 32768)
        assert taken.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) in (8192, 16384)


def test_without_settings_the_kernel_chooses(database: SqlServer) -> None:
    with closing(SourceConnection(source_settings(database))) as connection:
        usual = connection.taken_over().getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
    assert usual > 32768
