"""Reads answers of web servers that do not say how long they are, such as those made on the fly.

obstore refuses them. Only whole objects come so, and only from the server that was asked.
"""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Iterator, Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit

from dali_core._storage.limited import joined
from dali_core._storage.options import StorageOptions

_CHUNK_BYTES = 1 << 20
_KNOWN = {
    *("timeout", "connect_timeout", "allow_http", "default_headers", "user_agent"),
    *("http1_only", "http2_only"),
}
"""Options of clients that are kept, or make no difference."""


class UnsizedAnswers:
    """Requests for objects of one web server.

    Parameters
    ----------
    root : str
        URL of the server.
    options : StorageOptions
        How to read.
    """

    def __init__(self, root: str, options: StorageOptions) -> None:
        self._root = root
        self._options = options
        self._client: Mapping[str, Any] = options.store.get("client_options", {})

    def may_be(self, error: Exception) -> bool:
        """Return whether obstore has refused an answer for want of a length."""
        is_one = "Content-Length" in str(error) and "missing" in str(error).lower()
        return is_one and self._client.keys() <= _KNOWN and "@" not in self._root

    def read(self, key: str) -> memoryview:
        """Return the bytes of an object.

        Raises
        ------
        Exception
            Whatever is wrong with the request.
        """
        for left in reversed(range(self._options.max_retries + 1)):
            try:
                with self._open(key, "GET") as answer:
                    return joined(self._pieces(answer), 0)
            except HTTPError:
                raise
            except (OSError, HTTPException):
                if not left:
                    raise
        raise AssertionError

    def version(self, key: str) -> str:
        """Return what changes with the content of an object; nothing if the server does not say."""
        with self._open(key, "HEAD") as answer:
            return answer.headers["ETag"] or answer.headers["Last-Modified"] or ""

    def _open(self, key: str, method: str) -> Any:
        headers = {"User-Agent": "dali_core", "Accept-Encoding": "identity"}
        headers |= dict(self._client.get("default_headers", {}))
        if "user_agent" in self._client:
            headers["User-Agent"] = str(self._client["user_agent"])
        request = urllib.request.Request(  # noqa: S310
            f"{self._root}/{quote(key)}", headers=headers, method=method
        )
        opener = urllib.request.OpenerDirector()
        for handler in (
            *(urllib.request.ProxyHandler, urllib.request.HTTPHandler, urllib.request.HTTPSHandler),
            *(urllib.request.HTTPErrorProcessor, urllib.request.HTTPDefaultErrorHandler),
            _SameServer,
        ):
            opener.add_handler(handler())
        try:
            return opener.open(request, timeout=self._options.timeout)
        except HTTPError as error:
            error.close()
            if error.code in (404, 410):
                raise FileNotFoundError(key) from error
            if error.code in (401, 403):
                raise PermissionError(f"the server answers {error.code}") from error
            raise

    def _pieces(self, answer: Any) -> Iterator[bytes]:
        end = time.monotonic() + self._options.deadline
        while piece := answer.read1(_CHUNK_BYTES):
            if time.monotonic() > end:
                raise TimeoutError("the answer has no end within the deadline")
            yield piece


class _SameServer(urllib.request.HTTPRedirectHandler):
    """Follows to other names on the same server: headers may be secrets."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        """Return the request that follows, or None to raise an error."""
        if urlsplit(newurl)[:2] != urlsplit(req.full_url)[:2]:
            return None
        return super().redirect_request(req, fp, code, msg, headers, newurl)
