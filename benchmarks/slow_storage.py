"""A server of objects with a given latency: ``python -m benchmarks.slow_storage MILLISECONDS``.

It answers GET and HEAD of ``/bucket/NUMBER.jpg``, or of the name of an archive, also of ranges, as
S3 does, from memory, so that its own work is small. Paths of the files come as a JSON list from
standard input; the port goes to standard output. It ends with its standard input.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import sys
from email.utils import formatdate
from pathlib import Path

_RANGE = re.compile(rb"\r\nrange: bytes=(\d+)-(\d+)", re.IGNORECASE)
_CHANGED = formatdate(0, usegmt=True)


class _Objects(asyncio.Protocol):
    """A connection, of which requests come one after the other."""

    def __init__(self, objects: dict[bytes, tuple[bytes, str]], seconds: float) -> None:
        self._objects = objects
        self._seconds = seconds
        self._waiting = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._waiting += data
        while b"\r\n\r\n" in self._waiting:
            request, _, self._waiting = self._waiting.partition(b"\r\n\r\n")
            asyncio.get_running_loop().call_later(self._seconds, self._answer, request)

    def _answer(self, request: bytes) -> None:
        method, path = request.split(b" ", 2)[:2]
        found = self._objects.get(path)
        if found is None:
            self._transport.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            return
        body, tag = found
        head = "HTTP/1.1 200 OK\r\n"
        if part := _RANGE.search(request):
            first, last = int(part[1]), min(int(part[2]), len(body) - 1)
            head = "HTTP/1.1 206 Partial Content\r\n"
            head += f"Content-Range: bytes {first}-{last}/{len(body)}\r\n"
            body = body[first : last + 1]
        head += f'Content-Length: {len(body)}\r\nETag: "{tag}"\r\nLast-Modified: {_CHANGED}\r\n\r\n'
        self._transport.write(head.encode() + (b"" if method == b"HEAD" else body))


async def _serve(paths: list[str], seconds: float) -> None:
    objects = {}
    for number, path in enumerate(paths):
        data = Path(path).read_bytes()
        name = path if path.endswith(".tar") else f"{number:06}.jpg"
        objects[f"/bucket/{Path(name).name}".encode()] = data, hashlib.sha256(data).hexdigest()[:32]
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: _Objects(objects, seconds), "127.0.0.1", 0, backlog=512
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve(json.loads(sys.stdin.readline()), float(sys.argv[1]) / 1000))
