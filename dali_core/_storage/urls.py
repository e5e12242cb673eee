"""URLs of objects: what they consist of, and how they differ from paths of files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from dali_core.errors import ArgumentValueError

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class ObjectUrl(NamedTuple):
    """A URL in its parts.

    Attributes
    ----------
    scheme : str
        In lower case, such as ``"s3"``.
    place : str
        The bucket or the server.
    key : str
        The name of the object there, as it is stored, without a slash at its start.
    """

    scheme: str
    place: str
    key: str

    @property
    def root(self) -> str:
        """The URL of the bucket or server."""
        return f"{self.scheme}://{self.place}"


def is_url(path: str) -> bool:
    """Return whether a path is a URL."""
    return _SCHEME.match(path) is not None


def join_path(root: str, path: str) -> str:
    """Return the path of a file below a root, either of which may be a URL."""
    if is_url(path) or not root:
        return path
    return f"{root.rstrip('/')}/{path}" if is_url(root) else os.path.join(root, path)


def folder_of(path: str) -> str:
    """Return the folder that a file is in, without a slash at its end."""
    return path.rpartition("/")[0] if is_url(path) else os.path.dirname(path)


def split_url(url: str) -> ObjectUrl:
    """Divide a URL into its parts.

    Raises
    ------
    ArgumentValueError
        If it cannot be that of an object.
    """
    scheme, _, rest = url.partition("://")
    scheme = scheme.lower()
    place, _, key = rest.partition("/")
    key = key.replace("/./", "/").removeprefix("./")
    if scheme in ("http", "https"):
        try:
            parts = urlsplit(url)
        except ValueError as error:
            raise ArgumentValueError(
                f"URLs must be those of objects (got {url!r}: {error}). Fix it."
            ) from error
        if parts.query or parts.fragment:
            raise ArgumentValueError(
                f"URLs of web servers must be without '?' and '#' (got {url!r}). Write such "
                "characters as %3F and %23 where they belong to the name; signed URLs cannot be "
                "read: pass the bucket's own URL, such as s3://..., and storage_options."
            )
        key = unquote(key)
    if scheme not in ("memory", "file") and not place:
        raise ArgumentValueError(
            f"URLs must name a bucket or a server (got {url!r}). Write them as "
            f"{scheme}://bucket/name."
        )
    return ObjectUrl(scheme, place, key)


def without_file_scheme(path: str) -> str:
    """Return the path that a URL with ``file://`` stands for, or else what was passed."""
    if not path.lower().startswith("file://"):
        return path
    parts = urlsplit(path)
    if parts.netloc not in ("", "localhost"):
        raise ArgumentValueError(
            f"URLs of files must be of this machine (got {path!r}). Write file:///path."
        )
    return unquote(parts.path)


def refuse_urls(name: str, paths: Iterable[str], instead: str) -> None:
    """Raise an error for a URL where only files are read.

    Raises
    ------
    ArgumentValueError
        If a path is a URL.
    """
    for path in paths:
        if is_url(path):
            raise ArgumentValueError(
                f"{name} must be paths of local files (got the URL {path!r}, which this operator "
                f"cannot read). {instead}"
            )
