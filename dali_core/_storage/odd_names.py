"""Lists buckets in which an object has a name that obstore cannot read.

Such names have an empty part, as in ``a//b``, a part ``..``, or control characters. One of them
makes obstore refuse the whole list, while boto3, if it is installed, gives it; those objects are
left out.
"""

from __future__ import annotations

import importlib.util
import os
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from dali_core._storage.urls import ObjectUrl

_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")


def is_odd_name(error: BaseException) -> bool:
    """Return whether obstore has refused a name."""
    return type(error).__name__ == "InvalidPathError"


def can_list(url: ObjectUrl) -> bool:
    """Return whether such a bucket can be listed."""
    return url.scheme in ("s3", "s3a") and importlib.util.find_spec("boto3") is not None


def list_readable(
    url: ObjectUrl, prefix: str, config: Mapping[str, Any]
) -> Iterator[tuple[str, int, str]]:
    """Give name, size and version of the objects below a folder, and warn about those left out.

    Parameters
    ----------
    url : ObjectUrl
        Of the bucket.
    prefix : str
        The folder.
    config : mapping
        Settings of obstore's store.
    """
    odd: list[str] = []
    pages = _client(config).get_paginator("list_objects_v2")
    below = {"Prefix": f"{prefix}/"} if prefix else {}
    for page in pages.paginate(Bucket=url.place, **below):
        for found in page.get("Contents", ()):
            key = found["Key"]
            if is_readable(key):
                yield key, found["Size"], found["ETag"]
            elif not is_readable(key.removesuffix("/")):
                odd.append(key)  # others stand for folders
    if odd:
        warnings.warn(
            f"names of objects must have no empty parts, '..' or control characters (got "
            f"{len(odd)} in {url.root}, such as {odd[0]!r}): these are left out. Rename them.",
            UserWarning,
            stacklevel=2,
        )


def is_readable(key: str) -> bool:
    """Return whether obstore can read an object of this name."""
    has_controls = any(letter < " " or letter == "\x7f" for letter in key)
    return not has_controls and not {"", ".", ".."} & set(key.split("/"))


def _client(config: Mapping[str, Any]) -> Any:
    import boto3
    from botocore import UNSIGNED
    from botocore.config import Config

    given = {name.lower().removeprefix("aws_"): str(value) for name, value in config.items()}

    def first(*names: str) -> str | None:
        return next((given[name] for name in names if name in given), None)

    in_environment = (os.environ[name] for name in _ENDPOINTS if name in os.environ)
    is_public = (first("skip_signature") or "").lower() in ("1", "true", "yes", "on")
    is_virtual = (first("virtual_hosted_style_request") or "").lower() == "true"
    endpoint = first("endpoint", "endpoint_url") or next(in_environment, None)
    style = "virtual" if is_virtual else "path" if endpoint else "auto"
    return boto3.session.Session().client(
        "s3",
        region_name=first("region", "default_region"),
        endpoint_url=endpoint,
        aws_access_key_id=first("access_key_id"),
        aws_secret_access_key=first("secret_access_key"),
        aws_session_token=first("session_token", "token"),
        config=Config(
            signature_version=UNSIGNED if is_public else None, s3={"addressing_style": style}
        ),
    )
