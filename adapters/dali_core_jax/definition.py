"""`data_iterator`: iterators from functions that define a pipeline."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.sharding import Sharding

from dali_core import pipeline_def
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.plugin.base_iterator import LastBatchPolicy
from dali_core_jax.batch_axis import BatchAxis
from dali_core_jax.iterators import DALIGenericIterator
from dali_core_jax.peekable import DALIGenericPeekableIterator
from dali_core_jax.placement import check_sharding_or_devices, default_device


def data_iterator(
    pipeline_fn: Callable[..., Any] | None = None,
    output_map: Sequence[str] = (),
    size: int = -1,
    reader_name: str | None = None,
    auto_reset: str | bool | None = False,
    last_batch_padded: bool = False,
    last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
    prepare_first_batch: bool = True,
    sharding: Sharding | None = None,
    devices: Sequence[jax.Device] | None = None,
    pmap_compatible: bool | None = None,
    *,
    mask_name: str | None = None,
) -> Any:
    """Turn a function that calls operators into one that returns iterators.

    Parameters
    ----------
    pipeline_fn : callable
        Defines the graph, like a function for `dali_core.pipeline_def`.  With more than one device
        it must take `shard_id` and `num_shards`; it may take `device_id`.
    output_map : list of str
        Distinct names of the outputs.
    size, reader_name, auto_reset, last_batch_padded, last_batch_policy, prepare_first_batch, \
pmap_compatible, mask_name : optional
        See `DALIGenericIterator`.
    sharding : jax.sharding.Sharding, optional
        Creates a pipeline for each part of the batch on devices of this process. All parts of all
        processes are the shards, in their order.
    devices : list of jax.Device, optional
        Creates a pipeline and a shard for each device; batches are stacked along a leading axis.
        Excludes `sharding`.

    Returns
    -------
    callable
        Returns a `DALIGenericIterator`.  It takes the arguments of the function, without those
        above, and those of `Pipeline`.  With `sharding` or `devices`, `batch_size` is that of all
        pipelines of all processes together.  `checkpoints`, the result of the iterator's method of
        that name, makes it resume there.

    Examples
    --------
    ::

        @data_iterator(output_map=["image"], reader_name="photos", sharding=sharding)
        def photos(folder, shard_id, num_shards):
            encoded, _ = fn.readers.file(
                file_root=folder, shard_id=shard_id, num_shards=num_shards, name="photos"
            )
            return fn.resize(fn.decoders.image(encoded), size=[64, 64])

        for batch in photos("train", batch_size=256, num_threads=2):
            batch["image"]
    """
    options = {name: value for name, value in locals().items() if name != "pipeline_fn"}
    return _decorator(DALIGenericIterator, pipeline_fn, options)


def peekable_data_iterator(
    pipeline_fn: Callable[..., Any] | None = None,
    output_map: Sequence[str] = (),
    size: int = -1,
    reader_name: str | None = None,
    auto_reset: str | bool | None = False,
    last_batch_padded: bool = False,
    last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
    prepare_first_batch: bool = True,
    sharding: Sharding | None = None,
    devices: Sequence[jax.Device] | None = None,
    pmap_compatible: bool | None = None,
    *,
    mask_name: str | None = None,
) -> Any:
    """Turn a function that calls operators into one that returns peekable iterators.

    Parameters and result are those of `data_iterator`, except for the iterator class:
    `DALIGenericPeekableIterator`.
    """
    options = {name: value for name, value in locals().items() if name != "pipeline_fn"}
    return _decorator(DALIGenericPeekableIterator, pipeline_fn, options)


def _decorator(
    kind: type[DALIGenericIterator],
    function: Callable[..., Any] | None,
    options: dict[str, Any],
) -> Any:
    if options["sharding"] is not None or options["devices"] is not None:
        check_sharding_or_devices(options["sharding"], options["devices"])
    if function is None:
        return functools.partial(_decorate, kind, options)
    return _decorate(kind, options, function)


def _decorate(
    kind: type[DALIGenericIterator], options: dict[str, Any], function: Callable[..., Any]
) -> Callable[..., DALIGenericIterator]:
    own = frozenset(inspect.signature(function).parameters)
    make_pipeline = pipeline_def(function)

    @functools.wraps(function)
    def make(
        *args: Any, checkpoints: Sequence[str | bytes] | None = None, **keywords: Any
    ) -> DALIGenericIterator:
        for name in sorted((set(options) & set(keywords)) - own):
            raise ArgumentTypeError(
                f"{function.__name__}: {name} must be given to the decorator (got {name}="
                f"{keywords[name]!r} in the call). Move it there."
            )
        axis = _find_shards(options["sharding"], options["devices"])
        if axis is None:
            places = [_device(keywords.pop("device_id", 0), default_device(), own)]
        else:
            _refuse_places(function.__name__, keywords)
            keywords = _share_batch_size(keywords, axis.num_shards)
            places = [
                _device(index, device, own) | _shard(shard, axis.num_shards, function, own)
                for index, (shard, device) in enumerate(
                    zip(axis.local_shards, axis.local_devices, strict=True)
                )
            ]
        saved = _share_checkpoints(checkpoints, len(places))
        pipelines = [
            make_pipeline(*args, **keywords, **place, **state)
            for place, state in zip(places, saved, strict=True)
        ]
        return kind(pipelines, **options)

    return make


def _find_shards(
    sharding: Sharding | None, devices: Sequence[jax.Device] | None
) -> BatchAxis | None:
    if sharding is not None:
        return BatchAxis.of(sharding)
    if devices is not None:
        return BatchAxis(len(devices), range(len(devices)), devices)
    return None


def _device(device_id: int | None, device: jax.Device, own: frozenset[str]) -> dict[str, Any]:
    """Return the argument `device_id`, for the function if it has one, else for the pipeline."""
    # Pipelines identify GPUs by index; those that compute for a CPU have none.
    is_told = "device_id" in own or device.platform != "cpu"
    return {"device_id": device_id if is_told else None}


def _shard(
    shard_id: int, num_shards: int, function: Callable[..., Any], own: frozenset[str]
) -> dict[str, int]:
    """Return the arguments that tell the function which shard to read."""
    shard = {"shard_id": shard_id, "num_shards": num_shards}
    missing = [name for name in shard if name not in own]
    if missing and num_shards > 1:
        raise ArgumentTypeError(
            f"{function.__name__}: must have parameters shard_id and num_shards to read for "
            f"{num_shards} shards (got no {' and no '.join(missing)}). Add them, and pass them on "
            "to the reader."
        )
    return {name: value for name, value in shard.items() if name in own}


def _refuse_places(where: str, keywords: dict[str, Any]) -> None:
    if keywords.get("device_id", 0) is None:
        # Programs for a CPU pass it, too.
        del keywords["device_id"]
    for name in ("device_id", "shard_id", "num_shards"):
        if name in keywords:
            raise ArgumentTypeError(
                f"{where}: {name} must be left out with sharding or devices, from which it follows "
                f"(got {name}={keywords[name]!r}). Drop it."
            )


def _share_batch_size(keywords: dict[str, Any], num_shards: int) -> dict[str, Any]:
    """Divide the batch size among all pipelines of all processes."""
    batch_size = keywords.get("batch_size")
    if not isinstance(batch_size, int):
        return keywords  # which the pipeline rejects
    if batch_size < num_shards:
        raise ArgumentValueError(
            f"batch_size: must have a sample for each of {num_shards} shards (got {batch_size}). "
            "Give the size of the global batch."
        )
    if batch_size % num_shards:
        warnings.warn(
            f"batch_size: {batch_size} cannot be divided among {num_shards} shards. Batches have "
            f"{batch_size // num_shards * num_shards} samples.",
            UserWarning,
            stacklevel=3,
        )
    return keywords | {"batch_size": batch_size // num_shards}


def _share_checkpoints(
    checkpoints: Sequence[str | bytes] | None, num_pipelines: int
) -> list[dict[str, Any]]:
    """Return the argument `checkpoint` of each pipeline."""
    if checkpoints is None:
        return [{}] * num_pipelines
    if isinstance(checkpoints, str | bytes) or len(checkpoints) != num_pipelines:
        raise ArgumentValueError(
            f"checkpoints: must be a list with one for each of {num_pipelines} pipelines (got "
            f"{checkpoints!r:.80}). Pass what checkpoints() of the iterator returned, on the same "
            "number of devices."
        )
    return [{"checkpoint": checkpoint} for checkpoint in checkpoints]
