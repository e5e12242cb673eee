"""A server of S3 for all tests of storage."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.storage.servers import S3Server, s3_server


@pytest.fixture(scope="module")
def _server() -> Iterator[S3Server]:
    pytest.importorskip("obstore", reason="not available: obstore")
    pytest.importorskip("moto", reason="not available: moto")
    with s3_server() as server:
        yield server


@pytest.fixture
def server(_server: S3Server) -> Iterator[S3Server]:
    """Return the server, without faults and requests of other tests."""
    _server.faults.clear()
    _server.requests.clear()
    _server.watched, _server.most_waiting = "", 0
    yield _server
    for fault in _server.faults.values():
        if fault.until is not None:
            fault.until.set()
