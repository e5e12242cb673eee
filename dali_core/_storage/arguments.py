"""Common arguments and listings of readers that take URLs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from dali_core._spec import Arg, Range
from dali_core._storage.storage import Storage, make_storage

STORAGE_ARGS = (
    Arg(
        "storage_options",
        object,
        "A dict with settings for paths that are URLs: `max_in_flight`, `max_bytes_in_flight`, "
        "`timeout` and `deadline` in seconds, `max_retries`; all others, such as `region` and "
        "`endpoint`, go to the store, which also follows the usual environment variables.",
        None,
    ),
    Arg(
        "cache_dir",
        str,
        "Local folder in which objects that were read are kept, for paths that are URLs. Several "
        "processes may share it. By default nothing is kept.",
        None,
    ),
    Arg(
        "cache_size",
        int,
        "How many bytes `cache_dir` may have; what was not used for longest is removed.",
        16 << 30,
        range=Range(1),
    ),
)
"""Arguments of all readers that take URLs."""

_ALL_STARTED = 1 << 20


class _Source(Protocol):
    storage: Storage | None


def storage_arguments(storage: Storage | None) -> dict[str, Any]:
    """Return what native code needs to read the URLs of a data set; nothing if it has none."""
    if storage is None:
        return {}
    # All batches that are started are read ahead: latency is hidden by many requests.
    return {"storage": storage.reads.address, "prefetch_queue_depth": _ALL_STARTED}


def storages_of(sources: Iterable[_Source]) -> list[Storage]:
    """List the storages of those data sets that have one."""
    return [source.storage for source in sources if source.storage is not None]


def stored(
    list_samples: Callable[[dict[str, Any], Storage], Any],
) -> Callable[[dict[str, Any]], Any]:
    """Make the function by which an operator opens its data set, for paths and URLs.

    Parameters
    ----------
    list_samples : callable
        Makes the listing from the checked arguments. It hands paths to `Storage.checked`.
    """

    def open_source(arguments: dict[str, Any]) -> Any:
        storage = make_storage(arguments)
        source = list_samples(arguments, storage)
        if storage.is_used:
            # Listings may be frozen; this is done before anyone else has them.
            object.__setattr__(source, "storage", storage)
        return source

    return open_source
