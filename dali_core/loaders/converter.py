"""Conversion of batches to what a loader gives: tuples or dictionaries of arrays."""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from dali_core.adapters import Adapter
from dali_core.errors import AdapterError
from dali_core.loaders.placement import Placement

_TEXT = "text"
_NUM_AXES = (3, 4)
"""Of an image, and of a sequence of images."""


class LoaderConverter:
    """Has an adapter convert batches, and puts them into the shape that the loader gives.

    Parameters
    ----------
    adapter : Adapter
        Converts batches to arrays of a framework.
    placement : Placement
        What is done with these.
    labels : collection of str
        Outputs that are class indices, if they are integers of shape (1,).
    is_strict : bool
        Whether these outputs must be so.
    channels_last : bool
        Whether images get their channels last.
    as_dict : bool
        Whether a batch is a dictionary.
    """

    def __init__(
        self,
        adapter: Adapter,
        placement: Placement,
        labels: Collection[str],
        *,
        is_strict: bool,
        channels_last: bool,
        as_dict: bool,
    ) -> None:
        self._adapter = adapter
        self._placement = placement
        self._labels = frozenset(labels)
        self._is_strict = is_strict
        self._channels_last = channels_last
        self._as_dict = as_dict

    @property
    def name(self) -> str:
        """Name of the adapter."""
        return self._adapter.name

    @property
    def representations(self) -> Sequence[str]:
        """What the adapter offers."""
        return (*self._adapter.representations, _TEXT)

    def stream(self, device_id: int) -> int | None:
        """Return the stream of the adapter."""
        return self._adapter.stream(device_id)

    def represent(self, batch: Any, kind: str, num_valid: int) -> Any:
        """Return the first samples of a batch as `kind`, with channels last if that is wanted."""
        if kind == _TEXT:
            return _texts(batch, num_valid)
        found = self._adapter.represent(batch, kind, num_valid)
        layout = batch.layout()
        if self._channels_last and kind == "dense" and _is_image(layout):
            return self._placement.channels_last(found, 1 + layout.index("C"))
        return found

    def assemble(self, shards: list[dict[str, Any]]) -> Any:
        """Return the outputs of all pipelines together, as a tuple or a dictionary."""
        batch = {name: self._joined([shard[name] for shard in shards]) for name in shards[0]}
        for name in self._labels:
            batch[name] = self._class_indices(name, batch[name])
        batch = {name: self._moved(name, array) for name, array in batch.items()}
        return batch if self._as_dict else tuple(batch.values())

    def _moved(self, name: str, array: Any) -> Any:
        if isinstance(array, list):
            return [
                one if isinstance(one, str) else self._placement.move(one, name) for one in array
            ]
        return self._placement.move(array, name)

    def _joined(self, parts: list[Any]) -> Any:
        if len(parts) == 1:
            return parts[0]
        if isinstance(parts[0], list):
            return list(itertools.chain.from_iterable(parts))
        return self._placement.join(parts)

    def _class_indices(self, name: str, array: Any) -> Any:
        found = array if isinstance(array, list) else self._placement.class_indices(array)
        if found is array and self._is_strict:
            shape = getattr(array, "shape", None)
            raise AdapterError(
                f"output {name!r}: labels must be int32 or int64 of shape (1,) for each sample "
                f"(got {getattr(array, 'dtype', type(array).__name__)} of shape {shape}). Leave it "
                "out of labels=, or cast and reshape it in the pipeline."
            )
        return found


def _is_image(layout: str) -> bool:
    return len(layout) in _NUM_AXES and {"H", "W", "C"} <= set(layout)


def _texts(batch: Any, num_valid: int) -> list[str]:
    """Return the text of each sample; names that are no UTF-8 as `os.fsdecode` has them."""
    on_host = batch.as_cpu()
    samples = [np.asarray(on_host.at(index)) for index in range(num_valid)]
    for sample in samples:
        if sample.dtype != np.uint8 or sample.ndim != 1:
            raise AdapterError(
                "output_types: 'text' must be for one-dimensional outputs of uint8 (got "
                f"{sample.dtype} of shape {sample.shape}). Use 'dense' or 'list'."
            )
    return [os.fsdecode(sample.tobytes()) for sample in samples]
