"""Access rules: a program may read all places, a document only those that are listed here.

A document is data of unknown origin. Some file systems of fsspec run templates, unpickle caches or
nest other file systems, and options of stores name files with keys, proxies, or where to send the
credentials of the machine. So a document may use only the schemes and the options below, whose
values are checked too, and only if its reader allows remote places at all.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dali_core._messages import shown
from dali_core._storage.options import StorageOptions
from dali_core._storage.urls import ObjectUrl, is_url, split_url
from dali_core.errors import ArgumentValueError


class Access(enum.Enum):
    """What the readers of a pipeline may open."""

    PROGRAM = "program"
    """Every URL, with every option: the arguments are those of a program."""

    REMOTE = "remote"
    """URLs and options that are listed for documents."""

    LOCAL = "local"
    """Files of this machine only."""


_Check = Callable[[Any], bool]


def _text(pattern: str) -> _Check:
    expression = re.compile(pattern, re.ASCII)
    return lambda value: isinstance(value, str) and expression.fullmatch(value) is not None


def _flag(value: Any) -> bool:
    return isinstance(value, bool) or value in ("true", "false")


_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_NAME = _LABEL.replace("A-Za-z", "A-Za-z_")
_HOST = rf"(?:{_NAME}(?:\.{_NAME})*\.?|\[[0-9A-Fa-f:.]+\])(?::[0-9]{{1,5}})?"
_BUCKET = r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}"
_KEY = _text(r"[\x21-\x7e]{1,4096}")

_CLIENT: Mapping[str, _Check] = {"allow_http": _flag, "http1_only": _flag, "http2_only": _flag}
_S3: Mapping[str, _Check] = {
    "access_key_id": _KEY,
    "endpoint": _text(rf"https?://{_HOST}/?"),
    "region": _text(_LABEL),
    "request_payer": _flag,
    "secret_access_key": _KEY,
    "session_token": _KEY,
    "skip_signature": _flag,
    "virtual_hosted_style_request": _flag,
}
_AZURE: Mapping[str, _Check] = {
    "account_name": _text(r"[a-z0-9]{3,24}"),
    "skip_signature": _flag,
}
_SCHEMES: Mapping[str, tuple[_Check, Mapping[str, _Check]]] = {
    **dict.fromkeys(("http", "https"), (_text(_HOST), {})),
    **dict.fromkeys(("s3", "s3a"), (_text(_BUCKET), _S3)),
    "gs": (_text(_BUCKET), {"skip_signature": _flag}),
    **dict.fromkeys(
        ("abfs", "abfss", "adl", "az", "azure"), (_text(rf"{_BUCKET}(?:@{_HOST})?"), _AZURE)
    ),
    "memory": (_text(r"[^:]*"), {}),
}
"""Schemes that a document may use, with what follows them, and the options of each."""


def check_place(access: Access, url: ObjectUrl, options: StorageOptions) -> None:
    """Check that a bucket or server may be read.

    Parameters
    ----------
    access : Access
        What may be read.
    url : ObjectUrl
        An object there.
    options : StorageOptions
        How it is to be read.

    Raises
    ------
    ArgumentValueError
        If it may not.
    """
    if access is Access.PROGRAM:
        return
    if access is Access.LOCAL:
        raise ArgumentValueError(
            f"a pipeline from a document must read files of this machine only (got "
            f"{shown(url.root)}). Pass allow_remote=True to Pipeline.deserialize if you trust it."
        )
    is_place, known = _SCHEMES.get(url.scheme, (None, {}))
    if is_place is None or not is_place(url.place):
        raise ArgumentValueError(
            f"URLs of a pipeline from a document must be buckets and servers of the schemes "
            f"{', '.join(_SCHEMES)} (got {shown(url.root)}). Define the pipeline in a program to "
            "read others."
        )
    _check_options(known, options.store, f"storage_options for {url.scheme}")


def check_arguments(access: Access, arguments: Mapping[str, Any]) -> None:
    """Check the arguments of an operator that reads URLs, before anything is opened.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If they have an URL or an option that may not be used.
    """
    options = StorageOptions.from_argument(arguments.get("storage_options"))
    known = {name: check for _, named in _SCHEMES.values() for name, check in named.items()}
    if access is not Access.PROGRAM:
        _check_options(known, options.store, "storage_options")
    for text in _texts(arguments):
        if is_url(text) and (url := split_url(text)).scheme != "file":
            check_place(access, url, options)


def _check_options(known: Mapping[str, _Check], given: Mapping[str, Any], what: str) -> None:
    client = given.get("client_options", {})
    for checks, values in (({**known, "client_options": _is_object}, given), (_CLIENT, client)):
        for name, value in values.items() if isinstance(values, Mapping) else ():
            if name not in checks:
                raise ArgumentValueError(
                    f"{what}: {shown(name)} must not come from a document, which may have "
                    f"{', '.join(checks) or 'none'}. Define the pipeline in a program, or set it "
                    "in the environment."
                )
            if not checks[name](value):  # which may be a secret
                raise ArgumentValueError(f"{what}: {name} must be a valid value. Change it.")
    own = {"access_key_id", "secret_access_key"} <= given.keys()
    unsigned = given.get("skip_signature") in (True, "true")
    if "endpoint" in given and not (own or unsigned):
        raise ArgumentValueError(
            f"{what}: endpoint must come with access_key_id and secret_access_key, or with "
            "skip_signature, in a document: it must not be sent the credentials of this machine. "
            "Add them."
        )


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _texts(arguments: Mapping[str, Any]) -> Iterator[str]:
    for value in arguments.values():
        entries = value if isinstance(value, (list, tuple)) else (value,)
        yield from (entry for entry in entries if isinstance(entry, str))
