"""A server of S3 on this machine, behind a proxy that fails as it is told."""

from __future__ import annotations

import contextlib
import http.client
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from tests.hanging import HANG_SECONDS

BUCKET = "bucket"
# The server wants to know who asks, and does not check it.
_SIGNED = "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, Signature=0"
_MILLISECOND = timedelta(milliseconds=1)


@dataclass
class Fault:
    """What happens to requests for an object.

    Attributes
    ----------
    status : int
        Status of the answer in place of the server's; 0 to pass on the server's.
    cut : bool
        Whether only half of the body arrives.
    times : int
        To how many requests it happens.
    until : threading.Event, optional
        What answers wait for.
    method : str
        Of which requests; by default of all.
    """

    status: int = 0
    cut: bool = False
    times: int = 1 << 30
    until: threading.Event | None = None
    method: str = ""


@dataclass
class S3Server:
    """The bucket ``s3://bucket``, at an address.

    Attributes
    ----------
    endpoint : str
        Address of the proxy.
    faults : dict of str to Fault
        What happens to which objects.
    requests : list of (str, str)
        Method and object of all requests that came.
    waiting : list of str
        Objects of the requests that are not answered yet.
    watched, most_waiting : str and int
        How many of them there have been at once, of objects whose names begin so.
    """

    endpoint: str = ""
    inner_port: int = 0
    faults: dict[str, Fault] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    watched: str = ""
    most_waiting: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def num_waiting(self) -> int:
        """How many requests are not answered yet."""
        return len(self.waiting)

    @property
    def options(self) -> dict[str, Any]:
        """The storage options that reach it."""
        return {
            "endpoint": self.endpoint,
            "region": "us-east-1",
            "access_key_id": "test",
            "secret_access_key": "test",
            "max_retries": 2,
            "client_options": {"http1_only": True},
            "retry_config": {
                "backoff": {"init_backoff": _MILLISECOND, "max_backoff": _MILLISECOND}
            },
        }

    def put(self, key: str, data: bytes) -> str:
        """Store an object, and return its URL."""
        self._send("PUT", f"/{BUCKET}/{quote(key)}", data)
        return f"s3://{BUCKET}/{key}"

    def delete(self, key: str) -> None:
        self._send("DELETE", f"/{BUCKET}/{quote(key)}")

    def upload(self, folder: Path, key: str) -> str:
        """Store all files below a folder, and return the URL of the folder."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.put(f"{key}/{path.relative_to(folder).as_posix()}", path.read_bytes())
        return f"s3://{BUCKET}/{key}"

    def count(self, key: str, method: str = "GET") -> int:
        """Return how many requests for an object came."""
        return sum(request == (method, key) for request in self.requests)

    def _send(self, method: str, path: str, data: bytes = b"") -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.inner_port, HANG_SECONDS)
        with contextlib.closing(connection):
            connection.request(method, path, data, {"Authorization": _SIGNED})
            answer = connection.getresponse()
            text = answer.read()
            assert answer.status < 300, text


def _proxy(server: S3Server) -> type[BaseHTTPRequestHandler]:
    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            key = unquote(self.path.partition("?")[0]).removeprefix(f"/{BUCKET}").strip("/")
            with server.lock:
                server.requests.append((self.command, key))
                fault = server.faults.get(key)
                if fault is not None and fault.method not in ("", self.command):
                    fault = None
                if fault is not None:
                    fault.times -= 1
                    if fault.times < 0:
                        fault = None
                server.waiting.append(key)
                watched = [one for one in server.waiting if one.startswith(server.watched)]
                server.most_waiting = max(server.most_waiting, len(watched))
            if fault is not None and fault.until is not None:
                fault.until.wait(HANG_SECONDS)
            status, headers, body = self._forward(fault or Fault())
            with server.lock:  # before the client knows
                server.waiting.remove(key)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            is_cut = fault is not None and fault.cut
            with contextlib.suppress(ConnectionError):
                self.wfile.write(body[: len(body) // 2] if is_cut else body)
            if is_cut:
                self.close_connection = True

        do_HEAD = do_GET  # noqa: N815

        def _forward(self, fault: Fault) -> tuple[int, dict[str, str], bytes]:
            if fault.status:
                return fault.status, {"Content-Length": "0"}, b""
            connection = http.client.HTTPConnection("127.0.0.1", server.inner_port, HANG_SECONDS)
            with contextlib.closing(connection):
                connection.request(self.command, self.path, headers=dict(self.headers.items()))
                answer = connection.getresponse()
                body = answer.read()
            kept = ("content-length", "content-range", "content-type", "etag", "last-modified")
            headers = {name: value for name, value in answer.getheaders() if name.lower() in kept}
            return answer.status, headers, body

        def log_message(self, *arguments: Any) -> None:
            pass

    return Proxy


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are no error."""


@contextlib.contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve HTTP at a free port of this machine, and give the address."""
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def s3_server() -> Iterator[S3Server]:
    """Start a server with an empty bucket."""
    import logging

    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    inner = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    inner.start()
    server = S3Server()
    _, server.inner_port = inner.get_host_and_port()
    server._send("PUT", f"/{BUCKET}")
    try:
        with serving(_proxy(server)) as server.endpoint:
            yield server
    finally:
        inner.stop()
